-- Makes articles live with what is stored; where one is live, the greater stays. Answers with the counts now.
-- KEYS: index of unwritten articles, the present epoch, a count each. ARGV: how long a count stays (ms); for each: article,
-- stored.
local counts = {}
local epoch = redis.call('GET', KEYS[2]) or ''
for n = 3, #KEYS do
    local article, stored = ARGV[2 * n - 4], tonumber(ARGV[2 * n - 3])
    local held = redis.call('HMGET', KEYS[n], 'n', 'w')
    local views = math.max(tonumber(held[1] or 0), stored)
    local written = math.max(tonumber(held[2] or 0), stored)
    redis.call('HSET', KEYS[n], 'n', views, 'w', written, 'e', epoch)
    redis.call('PEXPIRE', KEYS[n], ARGV[1])
    if views == written then
        redis.call('ZREM', KEYS[1], article)
    end
    counts[n - 2] = views
end
return counts
