-- Drops everything of a tag: the new epoch at once, the memory as far as the indexes know of it.
-- KEYS: epoch; an index each. ARGV: what the keys of each index start with. All of them carry the same tag.
local time = redis.call('TIME')
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
redis.call('SET', KEYS[1], run .. '/' .. time[1] .. '.' .. time[2])
for n = 2, #KEYS do
    local ids = redis.call('ZRANGE', KEYS[n], 0, -1)
    for _, id in ipairs(ids) do
        redis.call('UNLINK', ARGV[n - 1] .. id)
    end
    redis.call('DEL', KEYS[n])
end
return 0
