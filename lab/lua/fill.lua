-- Versioned fill: caches what a reader loaded, unless a newer version is cached or was announced by an invalidation.
-- KEYS: the entry, and the least version that may be filled in. ARGV: version, balance, logical TTL in ms, physical TTL in ms.
-- Returns 1 when it was taken.
local version = tonumber(ARGV[1])
local cached = redis.call('HGET', KEYS[1], 'version')
local floor = redis.call('GET', KEYS[2])
if version < tonumber(cached or '0') or version < tonumber(floor or '0') then
    return 0
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'balance', ARGV[2], 'fresh_until_ms', now_ms + tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
