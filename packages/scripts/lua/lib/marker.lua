-- Wakes blocked workers. Members are ids of waiting jobs at score 0; the next due time stands under a
-- control character, which no id may hold.
local function arm(ids)
  local add = {}
  for i = 1, math.min(#ids, 16 - marked) do
    add[#add + 1] = 0
    add[#add + 1] = ids[i]
  end
  if #add > 0 then redis.call('ZADD', marker, unpack(add)) end
end

local function arm_due(due) redis.call('ZADD', marker, due, '\1') end
