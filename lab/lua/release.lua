-- Gives a lease back, if it is still held by this owner. KEYS[1]: the lease. ARGV[1]: the owner's token.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
