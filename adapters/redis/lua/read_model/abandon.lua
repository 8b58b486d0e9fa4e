-- Takes the placeholders of a ticket away.
-- KEYS: index of placeholders, a placeholder each. ARGV: ticket, an id each.
for n = 2, #KEYS do
    if redis.call('HGET', KEYS[n], 'k') == ARGV[1] then
        redis.call('DEL', KEYS[n])
        redis.call('ZREM', KEYS[1], ARGV[n])
    end
end
return 0
