-- Counts a view of an article that is live, unless this viewer counted within the window.
-- KEYS: the article's count (n views, w of them written), the viewer's sighting, index of unwritten articles by the moment
-- since when they are, set of those with many unwritten views, the present epoch.
-- ARGV: article, now, window (ms), how many unwritten views are many, how long an index stays (ms).
-- Answers: nothing when the article is not live, or was so in another epoch only: what is stored may be more; whether it counted, views so far, how many of them are unwritten.
local count = redis.call('HMGET', KEYS[1], 'n', 'w', 'e')
if not count[1] or (count[3] or '') ~= (redis.call('GET', KEYS[5]) or '') then
    return false
end
local seen = redis.call('GET', KEYS[2])
-- A moment ahead of now is another process's clock, or one that stepped back.
if seen and math.abs(ARGV[2] - seen) < tonumber(ARGV[3]) then
    return { 0, count[1], 0 }
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
