-- Merges what events say of boards into lists and placeholders that are there.
-- KEYS: epoch, index of lists; for each board: list, placeholder.
-- ARGV: ids a list keeps, changes a placeholder keeps; for each board: its id, how many changes; for each change: article,
-- 'there', 'gone' or 'back', the board's count and its version ('' when only a candidate turned out to be gone).
local list_max, changes_max = tonumber(ARGV[1]), tonumber(ARGV[2])
local at = 3

local function merge_list(key, from, count)
    local held = redis.call('HMGET', key, 'i', 'g', 'f', 'c', 'cv', 'tv')
    -- A list of a version before this one has no such field: everything is newer.
    local told = held[6]
    local list = { ids = held[1], gone = held[2], floor = held[3] }
    for n = from, from + 4 * (count - 1), 4 do
        if ARGV[n + 1] == 'there' then
            insert(list, ARGV[n], list_max)
        elseif ARGV[n + 1] == 'back' then
            apply_back(key, list, ARGV[n], ARGV[n + 3], told, list_max)
        else
            apply_gone(key, list, ARGV[n], ARGV[n + 3], told, list_max)
        end
        if ARGV[n + 3] ~= '' and is_newer(ARGV[n + 3], held[5]) then
            held[4], held[5] = ARGV[n + 2], ARGV[n + 3]
        end
    end
    redis.call('HSET', key, 'i', list.ids, 'g', list.gone, 'f', list.floor, 'c', held[4], 'cv', held[5])
end

local function merge_placeholder(key, from, count)
    local held = redis.call('HMGET', key, 'i', 'g', 'c', 'cv')
    local there, gone = held[1] or '', held[2] or ''
    for n = from, from + 4 * (count - 1), 4 do
        if ARGV[n + 1] == 'there' then
            there = with(there, ARGV[n])
        elseif ARGV[n + 1] == 'back' then
            if is_newer(ARGV[n + 3], redis.call('HGET', key, 'm' .. ARGV[n])) then
                redis.call('HSET', key, 'm' .. ARGV[n], ARGV[n + 3])
            end
        else
            gone = with(gone, ARGV[n])
            -- One that is only known to be gone says nothing of when.
            if ARGV[n + 3] ~= '' and is_newer(ARGV[n + 3], redis.call('HGET', key, 'v' .. ARGV[n])) then
                redis.call('HSET', key, 'v' .. ARGV[n], ARGV[n + 3])
            end
        end
        if ARGV[n + 3] ~= '' and is_newer(ARGV[n + 3], held[4]) then
            held[3], held[4] = ARGV[n + 2], ARGV[n + 3]
        end
    end
    if #there + #gone > changes_max * WIDTH then
        redis.call('HSET', key, 'o', '1')
        there, gone = '', ''
    end
    redis.call('HSET', key, 'i', there, 'g', gone)
    if held[4] then
        redis.call('HSET', key, 'c', held[3], 'cv', held[4])
    end
end

local function tells_of_the_board(from, count)
    for n = from, from + 4 * (count - 1), 4 do
        if ARGV[n + 3] ~= '' then
            return true
        end
    end
    return false
end

for n = 1, (#KEYS - 2) / 2 do
    local list, placeholder = KEYS[1 + 2 * n], KEYS[2 + 2 * n]
    local id, count = ARGV[at], tonumber(ARGV[at + 1])
    local from = at + 2
    at = from + 4 * count
    if is_there(placeholder) then
        merge_placeholder(placeholder, from, count)
    end
    local held = redis.call('HMGET', list, 'e', 'x')
    if held[1] == epoch then
        if not held[2] then
            merge_list(list, from, count)
        elseif tells_of_the_board(from, count) then
            redis.call('DEL', list)
            redis.call('ZREM', KEYS[2], id)
        end
    end
end
return 0
