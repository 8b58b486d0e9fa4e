-- Announces that an account has reached a version: what is older leaves the cache, and cannot be filled in again by a reader
-- that loaded it before. The announcement outlives the slowest load.
-- KEYS: the entry, and the least version that may be filled in. ARGV: version, how long the announcement is kept in ms.
-- Returns 1 when something older was cached.
local version = tonumber(ARGV[1])
local floor = redis.call('GET', KEYS[2])
if version >= tonumber(floor or '0') then
    redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
local cached = redis.call('HGET', KEYS[1], 'version')
if cached and tonumber(cached) < version then
    return redis.call('DEL', KEYS[1])
end
return 0
