-- Puts what the owner told in the place of an older list, together with what was merged since the placeholder stands.
-- KEYS: epoch, index of lists, index of placeholders, list, placeholder.
-- ARGV: ticket, board, whether it exists, until and ttl of it, ttl of the index (ms), ids a list keeps; ids, floor, count and
-- version as told. Answers: 0 ask again, 1 kept as absent, or ids, floor, count and version as they are kept.
local list_key, placeholder = KEYS[4], KEYS[5]
local held = redis.call('HMGET', placeholder, 'e', 'k', 'i', 'g', 'c', 'cv', 'o')
if held[1] ~= epoch or held[2] ~= ARGV[1] then
    return 0
end
local fields = redis.call('HGETALL', placeholder)
local gone_at, restored_at = {}, {}
for n = 1, #fields, 2 do
    local kind, id = string.match(fields[n], '^([vm])(%x+)$')
    if kind == 'v' then
        gone_at[id] = fields[n + 1]
    elseif kind == 'm' then
        restored_at[id] = fields[n + 1]
    end
end
redis.call('DEL', placeholder)
redis.call('ZREM', KEYS[3], ARGV[2])
local exists = ARGV[3] == '1'
if (exists and held[7]) or (not exists and held[6]) then
    return 0
end
redis.call('DEL', list_key)
redis.call('HSET', list_key, 'e', epoch, 'u', ARGV[4])
local answer = 1
if exists then
    local max = tonumber(ARGV[7])
    local list = { ids = ARGV[8], gone = '', floor = ARGV[9] }
    local count, version = ARGV[10], ARGV[11]
    local gone, there = held[4] or '', held[3] or ''
    for n = 1, #gone, WIDTH do
        local id = string.sub(gone, n, n + WIDTH - 1)
        apply_gone(list_key, list, id, gone_at[id] or '', ARGV[11], max)
    end
    for n = 1, #there, WIDTH do
        insert(list, string.sub(there, n, n + WIDTH - 1), max)
    end
    for id, restored in pairs(restored_at) do
        -- A deletion that came after it was applied above.
        if not (gone_at[id] and is_newer(gone_at[id], restored)) then
            apply_back(list_key, list, id, restored, ARGV[11], max)
        end
    end
    if held[6] and is_newer(held[6], version) then
        count, version = held[5], held[6]
    end
    redis.call('HSET', list_key, 'i', list.ids, 'g', list.gone, 'f', list.floor, 'c', count, 'cv', version, 'tv', ARGV[11])
    answer = { list.ids, list.floor, count, version }
else
    redis.call('HSET', list_key, 'x', '1')
end
redis.call('PEXPIRE', list_key, ARGV[5])
index(KEYS[2], now_ms(), ARGV[5], ARGV[6], ARGV[2])
return answer
