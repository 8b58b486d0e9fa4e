-- Notes what the store answered.
-- KEYS: index of unwritten articles, set of those with many unwritten views, a count each.
-- ARGV: the moment the counts were taken, how long a count stays, how long an index stays (ms), how many unwritten views
-- are many; for each: article, what is stored, '' when it is gone.
for n = 3, #KEYS do
    local article, stored = ARGV[2 * n - 1], ARGV[2 * n]
    local held = redis.call('HMGET', KEYS[n], 'n', 'w')
    if stored == '' or not held[1] then
        redis.call('DEL', KEYS[n])
        redis.call('ZREM', KEYS[1], article)
        redis.call('SREM', KEYS[2], article)
    else
        -- The store never goes back; if it knows more, it is right.
        local views = math.max(tonumber(held[1]), tonumber(stored))
        local written = math.max(tonumber(held[2]), tonumber(stored))
        redis.call('HSET', KEYS[n], 'n', views, 'w', written)
        redis.call('HDEL', KEYS[n], 'k')
        redis.call('PEXPIRE', KEYS[n], ARGV[2])
        if views > written then
            -- What is still unwritten came after the counts were taken.
            redis.call('ZADD', KEYS[1], ARGV[1], article)
            redis.call('PEXPIRE', KEYS[1], ARGV[3])
        else
            redis.call('ZREM', KEYS[1], article)
        end
        if views - written < tonumber(ARGV[4]) then
            redis.call('SREM', KEYS[2], article)
        end
    end
end
return 0
