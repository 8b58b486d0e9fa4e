-- A board's hash: e epoch, u until, x absent; i ids and g gone ids, newest first, 16 hexadecimal digits each; f floor, empty
-- when the list holds all there are; c count of the board, cv its version.
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

