-- The best of a day that is whole; nothing of another. KEYS: mark, rows, rank. ARGV: how many.
-- Answers: id, row, in turn.
if not is_whole(KEYS[1], KEYS[2], KEYS[3]) then
    return false
end
local best = {}
if tonumber(ARGV[1]) == 0 then
    return best
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, ARGV[1] - 1)) do
    local id = string.sub(member, 17)
    best[#best + 1] = id
    best[#best + 1] = redis.call('HGET', KEYS[2], id)
end
return best
