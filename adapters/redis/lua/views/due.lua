-- Takes counts that are due to be written back.
-- KEYS: index of unwritten articles, set of those with many unwritten views.
-- ARGV: what the keys of counts start with (they carry the same tag), now, age from which on a view is due, how long what
-- was taken is left alone (ms), how many to take, 'all' to take what is not due and what others took as well.
-- Answers: article, views, in turn.
local now, taken_ms = tonumber(ARGV[2]), tonumber(ARGV[4])
local due = {}
local looked_at = {}

local function take(articles)
    for _, article in ipairs(articles) do
        if not looked_at[article] then
            looked_at[article] = true
            local key = ARGV[1] .. article
            local held = redis.call('HMGET', key, 'n', 'w', 'k')
            if not held[1] then
                -- Lost; what is stored is all there is.
                redis.call('ZREM', KEYS[1], article)
                redis.call('SREM', KEYS[2], article)
            elseif ARGV[6] == 'all' or not held[3] or math.abs(now - held[3]) >= taken_ms then
                redis.call('HSET', key, 'k', ARGV[2])
                due[#due + 1] = article
                due[#due + 1] = held[1]
            end
        end
    end
end

if ARGV[6] == 'all' then
    take(redis.call('ZRANGE', KEYS[1], 0, ARGV[5] - 1))
else
    take(redis.call('SRANDMEMBER', KEYS[2], ARGV[5]))
    take(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[3]), 'LIMIT', 0, ARGV[5]))
    -- After a clock stepped back an age says nothing, so it counts as old.
    take(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[5]))
end
return due
