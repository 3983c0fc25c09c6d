-- Puts ids in line. Buffered, so a batch costs one command per structure. `seq` is the priority
-- sequence; 2^32 keeps priority and sequence exact in a double.
local to_back, to_front, to_ranked, in_line = {}, {}, {}, {}

local function line_up(id, priority, front)
  in_line[#in_line + 1] = id
  if priority then
    local place = 0
    if not front then
      seq = seq + 1
      place = seq % 4294967296
    end
    to_ranked[#to_ranked + 1] = priority * 4294967296 + place
    to_ranked[#to_ranked + 1] = id
  elseif front == 'newest' then
    to_front[#to_front + 1] = id
  elseif front then
    -- Pushed in reverse: the first of the batch must end nearest to the head.
    table.insert(to_front, 1, id)
  else
    to_back[#to_back + 1] = id
  end
end

local function flush_line()
  if #to_back > 0 then redis.call('LPUSH', wait, unpack(to_back)) end
  if #to_front > 0 then redis.call('RPUSH', wait, unpack(to_front)) end
  if #to_ranked > 0 then redis.call('ZADD', prioritized, unpack(to_ranked)) end
end
