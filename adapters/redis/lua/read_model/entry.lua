-- An article's hash, and a placeholder's: e epoch, u until, x absent; d deleted, v version and t text of the article;
-- c and cv, l and lv: counts of comments and likes with their versions. A group that nobody told has no fields.

-- Versions are decimal strings of any length: a Lua number would round them.
local function is_newer(ours, theirs)
    return not theirs or #ours > #theirs or (#ours == #theirs and ours > theirs)
end

local function is_given(value)
    return value and value ~= ''
end

-- Seven fields as arguments, from one place on.
local function told(at)
    return { ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5], ARGV[at + 6] }
end

-- The same of a hash.
local function known(key)
    return redis.call('HMGET', key, 'd', 'v', 't', 'c', 'cv', 'l', 'lv')
end

-- Takes the newer of each group into a hash. Its expiry stays as it is. Tells whether the text was taken.
local function merge(key, groups)
    local ours = redis.call('HMGET', key, 'd', 'v', 'cv', 'lv')
    local took_text = false
    if is_given(groups[1]) then
        -- A deletion is a version of its own; only a restore is above it. Of equals what is gone is not shown.
        local is_equal_end = groups[1] == '1' and ours[1] == '0' and groups[2] == ours[2]
        if is_newer(groups[2], ours[2]) or is_equal_end then
            redis.call('HSET', key, 'd', groups[1], 'v', groups[2])
            if groups[1] == '1' then
                redis.call('HDEL', key, 't')
            else
                redis.call('HSET', key, 't', groups[3])
                took_text = true
            end
        end
    end
    if is_given(groups[5]) and is_newer(groups[5], ours[3]) then
        redis.call('HSET', key, 'c', groups[4], 'cv', groups[5])
    end
    if is_given(groups[7]) and is_newer(groups[7], ours[4]) then
        redis.call('HSET', key, 'l', groups[6], 'lv', groups[7])
    end
    return took_text
end
