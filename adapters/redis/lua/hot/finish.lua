-- Marks a day as whole, if nothing was lost since it was begun. KEYS: mark, builder. ARGV: token, how long that is believed (ms).
if redis.call('GET', KEYS[2]) ~= ARGV[1] then
    return 0
end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[1], '1', 'PX', ARGV[2])
return 1
