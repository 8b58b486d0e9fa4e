-- Takes tokens from a bucket that fills by itself. KEYS: the bucket (a amount, t moment of it).
-- ARGV: how many, tokens a second, how many it holds, now (ms; '' for the server's clock), '1' if fewer will do.
-- Answers: whether they were there, whole tokens left, milliseconds until they would be there, how many were taken.
local wanted, rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[4])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local held = redis.call('HMGET', KEYS[1], 'a', 't')
local amount = math.min(tonumber(held[1] or burst), burst)
-- A clock that stepped back fills nothing, and is not believed for longer than that.
local passed_ms = math.max(now - (held[2] or now), 0)
amount = math.min(burst, amount + passed_ms * rate / 1000)
-- Less than this is a rounding, not a token.
local GRAIN = 0.000001
if ARGV[5] == '1' then
    wanted = math.max(1, math.min(wanted, math.floor(amount + GRAIN)))
end
local is_allowed = amount + GRAIN >= wanted
local wait_ms = 0
if is_allowed then
    amount = math.max(amount - wanted, 0)
else
    wait_ms = math.ceil((wanted - amount - GRAIN) * 1000 / rate)
end
redis.call('HSET', KEYS[1], 'a', string.format('%.6f', amount), 't', string.format('%.0f', now))
-- Full again, it is as good as not there; a minute more, in case the clock is not this server's.
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - amount) * 1000 / rate) + 60000)
return { is_allowed and 1 or 0, math.floor(amount + GRAIN), wait_ms, is_allowed and wanted or 0 }
