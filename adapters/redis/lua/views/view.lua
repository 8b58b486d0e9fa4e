-- Counts a view of an article that is live, unless this viewer counted within the window, or as many guests of their network
-- as count.
-- KEYS: the article's count (n views, w of them written), the viewer's sighting, index of unwritten articles by the moment
-- since when they are, set of those with many unwritten views, guests of the network that were counted (of a member the
-- sighting again, which is not looked at), the present epoch.
-- ARGV: article, now, window (ms), how many unwritten views are many, how long an index stays (ms), how many guests of a
-- network count ('' for a member).
-- Answers: nothing when the article is not live, or was so in another epoch only: what is stored may be more; whether it
-- counted, views so far, how many of them are unwritten.
local count = redis.call('HMGET', KEYS[1], 'n', 'w', 'e')
if not count[1] or (count[3] or '') ~= (redis.call('GET', KEYS[6]) or '') then
    return false
end
local seen = redis.call('GET', KEYS[2])
-- A moment ahead of now is another process's clock, or one that stepped back.
if seen and math.abs(ARGV[2] - seen) < tonumber(ARGV[3]) then
    return { 0, count[1], 0 }
end
if ARGV[6] ~= '' then
    -- How many, and since when: by the clock of the callers, as the sightings are.
    local guests = redis.call('HMGET', KEYS[5], 'g', 's')
    local is_over = not guests[1] or math.abs(ARGV[2] - guests[2]) >= tonumber(ARGV[3])
    if not is_over and tonumber(guests[1]) >= tonumber(ARGV[6]) then
        return { 0, count[1], 0 }
    end
    if is_over then
        redis.call('HSET', KEYS[5], 'g', 1, 's', ARGV[2])
        redis.call('PEXPIRE', KEYS[5], ARGV[3])
    else
        redis.call('HINCRBY', KEYS[5], 'g', 1)
    end
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
local views = redis.call('HINCRBY', KEYS[1], 'n', 1)
local unwritten = views - count[2]
if redis.call('ZADD', KEYS[3], 'NX', ARGV[2], ARGV[1]) == 1 then
    redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
if unwritten >= tonumber(ARGV[4]) then
    redis.call('SADD', KEYS[4], ARGV[1])
    redis.call('PEXPIRE', KEYS[4], ARGV[5])
end
return { 1, views, unwritten }
