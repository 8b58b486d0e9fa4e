-- A board's list with all its candidates.
-- KEYS: epoch, list. Answers: 0 nothing, until when it is absent, or until, ids, floor, count and its version.
local held = redis.call('HMGET', KEYS[2], 'e', 'x', 'u', 'i', 'f', 'c', 'cv')
if held[1] ~= epoch then
    return 0
end
if held[2] then
    return { held[3] }
end
return { held[3], held[4], held[5], held[6], held[7] }
