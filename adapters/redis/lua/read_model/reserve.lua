-- Places placeholders in the stead of earlier ones.
-- KEYS: epoch, index of placeholders, a placeholder each. ARGV: ticket, how long they stand (ms), an id each.
local now = now_ms()
for n = 3, #KEYS do
    redis.call('DEL', KEYS[n])
    redis.call('HSET', KEYS[n], 'e', epoch, 'k', ARGV[1])
    redis.call('PEXPIRE', KEYS[n], ARGV[2])
    index(KEYS[2], now, ARGV[2], ARGV[2], ARGV[n])
end
return 0
