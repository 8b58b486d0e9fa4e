-- A board's hash: e epoch, u until, x absent; i ids and g gone ids, newest first, 16 hexadecimal digits each; f floor, empty
-- when the list holds all there are; c count of the board, cv its version; tv the version that the owner told with the list;
-- m and an id: the version of the count after that article was restored. There are as many as moderators restore in a day.
local WIDTH = 16

-- How many ids are newer, and whether the id is there.
local function place(ids, id)
    local low, high = 0, #ids / WIDTH
    while low < high do
        local middle = math.floor((low + high) / 2)
        local found = string.sub(ids, middle * WIDTH + 1, (middle + 1) * WIDTH)
        if found == id then
            return middle, true
        elseif found > id then
            low = middle + 1
        else
            high = middle
        end
    end
    return low, false
end

local function with(ids, id)
    local at, is_known = place(ids, id)
    if is_known then
        return ids
    end
    return string.sub(ids, 1, at * WIDTH) .. id .. string.sub(ids, at * WIDTH + 1)
end

local function without(ids, id)
    local at, is_known = place(ids, id)
    if not is_known then
        return ids
    end
    return string.sub(ids, 1, at * WIDTH) .. string.sub(ids, (at + 1) * WIDTH + 1)
end

local function is_newer(ours, theirs)
    return not theirs or #ours > #theirs or (#ours == #theirs and ours > theirs)
end

local function insert(list, id, max)
    local _, is_gone = place(list.gone, id)
    if is_gone or (list.floor ~= '' and id < list.floor) then
        return
    end
    list.ids = with(list.ids, id)
    if #list.ids > max * WIDTH then
        list.ids = string.sub(list.ids, 1, max * WIDTH)
        list.floor = string.sub(list.ids, -WIDTH)
        local newer, is_floor = place(list.gone, list.floor)
        list.gone = string.sub(list.gone, 1, (is_floor and newer + 1 or newer) * WIDTH)
    end
end

local function remove(list, id, max)
    list.ids = without(list.ids, id)
    if list.floor == '' or id >= list.floor then
        list.gone = string.sub(with(list.gone, id), 1, max * WIDTH)
    end
end

-- An article was deleted, with this version of the count after it ('' when a candidate turned out to be gone). What the owner
-- told, or a later restore, is not undone by it; whoever found it gone may have seen the deletion before that restore.
local function apply_gone(key, list, id, version, told, max)
    local restored = redis.call('HGET', key, 'm' .. id)
    if version == '' then
        if restored then
            return
        end
    elseif not is_newer(version, told) or (restored and not is_newer(version, restored)) then
        return
    end
    redis.call('HDEL', key, 'm' .. id)
    remove(list, id, max)
end

-- An article is back. What is not is found out by its entry.
local function apply_back(key, list, id, version, told, max)
    local restored = redis.call('HGET', key, 'm' .. id)
    if restored and not is_newer(version, restored) then
        return
    end
    redis.call('HSET', key, 'm' .. id, version)
    local _, was_gone = place(list.gone, id)
    if was_gone or is_newer(version, told) then
        list.gone = without(list.gone, id)
        insert(list, id, max)
    end
end

