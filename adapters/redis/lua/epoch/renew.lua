-- Begins a new epoch where the present one is of another server: one that was restored from a snapshot, or a replica that took
-- over, may hold what was changed since. An epoch starts with the id of the server's run. KEYS: epoch.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local epoch = redis.call('GET', KEYS[1]) or ''
if string.sub(epoch, 1, #run) == run then
    return 0
end
local time = redis.call('TIME')
redis.call('SET', KEYS[1], run .. '/' .. time[1] .. '.' .. time[2])
return 1
