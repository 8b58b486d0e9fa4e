-- How much a tag holds, and how much memory, by a sample.
-- KEYS: indexes of articles, lists and the placeholders of both. ARGV: what the keys of the first two start with.
-- Answers: articles, lists, placeholders, bytes.
local now = redis.call('TIME')
local sizes = {}
for n = 1, 4 do
    sizes[n] = redis.call('ZCOUNT', KEYS[n], now[1] * 1000, '+inf')
end
local bytes = 0
for n = 1, 2 do
    local sample = redis.call('ZRANDMEMBER', KEYS[n], 4)
    local found, weight = 0, 0
    for _, id in ipairs(sample) do
        local usage = redis.call('MEMORY', 'USAGE', ARGV[n] .. id)
        if usage then
            found = found + 1
            weight = weight + usage
        end
    end
    if found > 0 then
        bytes = bytes + math.floor(weight / found * sizes[n])
    end
end
return { sizes[1], sizes[2], sizes[3] + sizes[4], bytes }
