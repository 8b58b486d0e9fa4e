-- Says that an instance is alive, buries the silent, and answers with the living in order.
-- KEYS: the service's instances by the moment of their last beat.
-- ARGV: the instance ('' to say nothing), dead after (ms), now (ms; '' for the server's clock), how long the key stays (ms).
local now = ARGV[3]
if now == '' then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
end
if ARGV[1] ~= '' then
    redis.call('ZADD', KEYS[1], now, ARGV[1])
    redis.call('PEXPIRE', KEYS[1], ARGV[4])
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now - ARGV[2]))
end
local living = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('%.0f', now - ARGV[2]), '+inf')
table.sort(living)
return living
