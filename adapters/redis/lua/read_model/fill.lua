-- Joins what the owners told with what was merged since the placeholders stand, and with what is there.
-- KEYS: epoch, index of articles, index of placeholders; for each: placeholder, article.
-- ARGV: ticket; until and ttl of what is kept, until and ttl of an absence (ms); for each: id, whether it exists, seven
-- fields. Answers for each: 0 ask again, 1 kept as absent, or what is kept now, its text only where it is another.
local now = now_ms()
local answers = {}
for n = 1, (#KEYS - 3) / 2 do
    local placeholder, article = KEYS[2 + 2 * n], KEYS[3 + 2 * n]
    local at = 6 + 9 * (n - 1)
    local id, exists = ARGV[at], ARGV[at + 1] == '1'
    local answer = 0
    local ticket = redis.call('HMGET', placeholder, 'e', 'k')
    if ticket[1] == epoch and ticket[2] == ARGV[1] then
        local merged = known(placeholder)
        redis.call('DEL', placeholder)
        redis.call('ZREM', KEYS[3], id)
        local held = redis.call('HMGET', article, 'e', 'x')
        if held[1] ~= epoch or held[2] or not exists then
            if exists or merged[1] ~= '0' then
                redis.call('DEL', article)
            end
        end
        if exists then
            local is_text_told = merge(article, told(at + 2))
            if merge(article, merged) then
                is_text_told = false
            end
            redis.call('HSET', article, 'e', epoch, 'u', ARGV[2])
            redis.call('PEXPIRE', article, ARGV[3])
            index(KEYS[2], now, ARGV[3], ARGV[3], id)
            local kept = known(article)
            if is_text_told then
                kept[3] = false
            end
            answer = kept
        elseif merged[1] ~= '0' then
            -- An event that says it exists contradicts the absence; any other does not.
            redis.call('HSET', article, 'e', epoch, 'x', '1', 'u', ARGV[4])
            redis.call('PEXPIRE', article, ARGV[5])
            index(KEYS[2], now, ARGV[5], ARGV[3], id)
            answer = 1
        end
    end
    answers[n] = answer
end
return answers
