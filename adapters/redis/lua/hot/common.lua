-- A day: `rank` holds, all with score 0, the inverted score and the id of each article that scores, 16 hexadecimal digits
-- each, so that its order by bytes is the ranking; `rows` holds for each article 'gone', or its version, the inverted score
-- ('-' if it has none), and what is shown of it; '#' among them counts what `rank` must hold.

-- Whether the day is whole: marked so, and neither of its keys was evicted by itself.
local function is_whole(mark, rows, rank)
    if redis.call('EXISTS', mark) == 0 then
        return false
    end
    return redis.call('ZCARD', rank) == tonumber(redis.call('HGET', rows, '#') or -1)
end

