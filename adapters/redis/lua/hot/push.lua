-- Puts articles at their places, unless what is known of them is newer.
-- KEYS: mark, rows, rank. ARGV: how long the day stays (ms); for each: id, version ('' when it is gone), inverted score, what
-- is shown. Answers whether the day is whole.
local function is_older(ours, theirs)
    return #ours < #theirs or (#ours == #theirs and ours < theirs)
end

local placed = 0
for n = 2, #ARGV, 4 do
    local id, version, inverted = ARGV[n], ARGV[n + 1], ARGV[n + 2]
    local known = redis.call('HGET', KEYS[2], id) or ''
    local known_version, known_inverted = string.match(known, '^(%d+) (%S+)')
    if known ~= 'gone' and (version == '' or not known_version or not is_older(version, known_version)) then
        if known_inverted and known_inverted ~= '-' then
            placed = placed - redis.call('ZREM', KEYS[3], known_inverted .. id)
        end
        if version == '' then
            redis.call('HSET', KEYS[2], id, 'gone')
        else
            redis.call('HSET', KEYS[2], id, version .. ' ' .. inverted .. ' ' .. ARGV[n + 3])
            if inverted ~= '-' then
                placed = placed + redis.call('ZADD', KEYS[3], 0, inverted .. id)
            end
        end
    end
end
redis.call('HINCRBY', KEYS[2], '#', placed)
redis.call('PEXPIRE', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[3], ARGV[1])
return is_whole(KEYS[1], KEYS[2], KEYS[3]) and 1 or 0
