-- Places placeholders, but for those that another process placed a moment ago: it is rebuilding what they stand for.
-- KEYS: epoch, index of placeholders, a placeholder each. ARGV: ticket, how long they stand, how long a rebuild is waited for
-- (ms), an id each. Answers for each: 1 placed, 0 another is at it.
local now = now_ms()
local answers = {}
for n = 3, #KEYS do
    local age = ARGV[2] - redis.call('PTTL', KEYS[n])
    if is_there(KEYS[n]) and age < tonumber(ARGV[3]) then
        answers[n - 2] = 0
    else
        redis.call('DEL', KEYS[n])
        redis.call('HSET', KEYS[n], 'e', epoch, 'k', ARGV[1])
        redis.call('PEXPIRE', KEYS[n], ARGV[2])
        index(KEYS[2], now, ARGV[2], ARGV[2], ARGV[n + 1])
        answers[n - 2] = 1
    end
end
return answers
