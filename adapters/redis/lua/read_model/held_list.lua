-- What is held of a board's list.
-- KEYS: epoch, list. ARGV: how many ids are wanted. Answers: 0 nothing, or ids, floor, how many the list holds, count and its
-- version.
local held = redis.call('HMGET', KEYS[2], 'e', 'x', 'i', 'f', 'c', 'cv')
if held[1] ~= epoch or held[2] then
    return 0
end
return { string.sub(held[3], 1, ARGV[1] * WIDTH), held[4], #held[3] / WIDTH, held[5], held[6] }
