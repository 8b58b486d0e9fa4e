-- What is cached of an account, and whether it is still fresh by this server's clock: {version, balance, fresh} or {}.
-- KEYS[1]: the entry, a hash of version, balance and fresh_until_ms.
local found = redis.call('HMGET', KEYS[1], 'version', 'balance', 'fresh_until_ms')
if not found[1] then
    return {}
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local fresh = now_ms < tonumber(found[3]) and '1' or '0'
return { found[1], found[2], fresh }
