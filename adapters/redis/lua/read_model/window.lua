-- A window of a board's list.
-- KEYS: epoch, list. ARGV: 'page' and how many to skip, or 'before' and an id ('' for the newest); how many are wanted.
-- Answers: 0 nothing, 1 and until when it is absent, or until, floor, count, how many the list holds, the ids.
local held = redis.call('HMGET', KEYS[2], 'e', 'x', 'u', 'i', 'f', 'c')
if held[1] ~= epoch then
    return 0
end
if held[2] then
    return { held[3] }
end
local ids = held[4]
local start = 0
if ARGV[1] == 'page' then
    start = tonumber(ARGV[2])
elseif ARGV[2] ~= '' then
    local newer, is_known = place(ids, ARGV[2])
    start = is_known and newer + 1 or newer
end
local slice = string.sub(ids, start * WIDTH + 1, (start + ARGV[3]) * WIDTH)
return { held[3], held[5], held[6], #ids / WIDTH, slice }
