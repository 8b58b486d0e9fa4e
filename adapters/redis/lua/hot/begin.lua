-- Begins to make a day anew, unless somebody is at it. KEYS: mark, rows, rank, builder. ARGV: token, how long it may take (ms).
if not redis.call('SET', KEYS[4], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return 0
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
return 1
