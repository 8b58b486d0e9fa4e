-- Merges events into articles and placeholders that are there.
-- KEYS: epoch, index of articles; for each: placeholder, article, mark.
-- ARGV: until and ttl of what is put in, how long a mark stands (ms); for each: id, 'put' to put it in if it is not there,
-- 'mark' to remember for a while that something was let go, seven fields.
local now = now_ms()
for n = 1, (#KEYS - 2) / 3 do
    local placeholder, article, mark = KEYS[3 * n], KEYS[1 + 3 * n], KEYS[2 + 3 * n]
    local at = 4 + 9 * (n - 1)
    local id, how, groups = ARGV[at], ARGV[at + 1], told(at + 2)
    if is_there(placeholder) then
        merge(placeholder, groups)
    end
    local held = redis.call('HMGET', article, 'e', 'x')
    if held[1] == epoch and not held[2] then
        merge(article, groups)
    else
        if held[1] == epoch and groups[1] == '0' then
            -- It exists after all, or the event is late: unknown.
            redis.call('DEL', article)
            redis.call('ZREM', KEYS[2], id)
        end
        if how == 'put' and redis.call('EXISTS', mark) == 0 then
            redis.call('DEL', article)
            merge(article, groups)
            redis.call('HSET', article, 'e', epoch, 'u', ARGV[1])
            redis.call('PEXPIRE', article, ARGV[2])
            index(KEYS[2], now, ARGV[2], ARGV[2], id)
        elseif how == 'mark' then
            redis.call('SET', mark, '1', 'PX', ARGV[3])
        end
    end
end
return 0
