-- What was written before the model was last cleared carries another epoch, and is as good as not there.
local epoch = redis.call('GET', KEYS[1]) or ''

local function is_there(key)
    return redis.call('HGET', key, 'e') == epoch
end

-- The server's clock, for indexes of what expires.
local function now_ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Adds to an index, which stays at least as long as anything in it.
local function index(key, now, ttl_ms, index_ttl_ms, id)
    redis.call('ZADD', key, now + ttl_ms, id)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    redis.call('PEXPIRE', key, index_ttl_ms)
end

