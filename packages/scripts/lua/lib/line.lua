-- Puts ids in line. Buffered, so a batch costs one command per structure. `seq` is the priority
-- sequence; 2^32 keeps priority and sequence exact in a double.
local to_back, to_front, to_ranked, in_line = {}, {}, {}, {}
local ahead, ranks = {}, {}

-- A priority as it stands in `priorities`; any other text is none, so that no score can be refused.
local function rank_of(text)
  local rank = tonumber(text)
  if rank and rank >= 1 and rank <= 2097151 and rank % 1 == 0 then return rank end
end

local function line_up(id, priority, front)
  in_line[#in_line + 1] = id
  local list = front and to_front or to_back
  if priority and front then
    if not ahead[priority] then ranks[#ranks + 1] = priority end
    ahead[priority] = ahead[priority] or {}
    list = ahead[priority]
  elseif priority then
    seq = seq + 1
    to_ranked[#to_ranked + 1] = priority * 4294967296 + seq % 4294967296
    to_ranked[#to_ranked + 1] = id
    return
  end
  if front == 'front' then
    -- The last of a list ends nearest to the head: a batch put back keeps its order.
    table.insert(list, 1, id)
  else
    list[#list + 1] = id
  end
end

-- Takes the places below the head of their priority, as far as there are any.
local function rank_ahead(priority, list)
  local base = priority * 4294967296
  local head = redis.call('ZRANGEBYSCORE', prioritized, string.format('%.0f', base),
    string.format('(%.0f', base + 4294967296), 'WITHSCORES', 'LIMIT', 0, 1)
  local place = head[2] and tonumber(head[2]) - base - 1 or seq % 4294967296
  local places = {}
  for i = 1, #list do
    places[#places + 1] = base + math.max(place + 1 - i, 0)
    places[#places + 1] = list[i]
  end
  redis.call('ZADD', prioritized, unpack(places))
end

local function flush_line()
  if #to_back > 0 then redis.call('LPUSH', wait, unpack(to_back)) end
  if #to_front > 0 then redis.call('RPUSH', wait, unpack(to_front)) end
  if #to_ranked > 0 then redis.call('ZADD', prioritized, unpack(to_ranked)) end
  for i = 1, #ranks do rank_ahead(ranks[i], ahead[ranks[i]]) end
end
