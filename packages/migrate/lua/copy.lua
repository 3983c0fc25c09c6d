-- Copies one batch of jobs, hash first and membership second, and moves the cursor of their state.
--@include refuse
--@include other_source
--@include run_fence
--@include source
if sources_n ~= jobs_n * 2 then return redis.error_reply('EMQARG sources') end
for i = 1, sources_n do
  if string.sub(KEYS[sources_at + i], 1, #source) ~= source then return redis.error_reply('EMQARG sources') end
end
if items_n ~= jobs_n then return redis.error_reply('EMQARG items') end
if to < from then return redis.error_reply('EMQARG to') end
local target
if state == 'prioritized' then target = prioritized
elseif state == 'delayed' then target = delayed
elseif state == 'completed' then target = completed
elseif state == 'failed' then target = failed
elseif state ~= 'wait' and state ~= 'paused' then return redis.error_reply('EMQARG state') end
for i = 1, items_n do
  local row = items(i)
  local text = ARGV[row + items_score]
  local score = tonumber(text)
  if target and not (score and score - score == 0 and string.find(text, '^%-?%d+%.?%d*e?%+?%d*$')) then
    return redis.error_reply('EMQARG items.score')
  end
  if tonumber(ARGV[row + items_priority]) > 2097151 then
    return redis.error_reply('EMQARG items.priority')
  end
  if KEYS[sources_at + i * 2 - 1] == KEYS[jobs_at + i * 2 - 1] then
    return redis.error_reply('EMQARG sources')
  end
end

-- Another process of this run may have copied the batch: its cursor says where to go on.
local cursor = 'copied.' .. state
local at = redis.call('HGET', meta, cursor) or '0'
if at ~= string.format('%.0f', from) then return { tonumber(at) or 0, {} } end
redis.call('LLEN', wait)
redis.call('HLEN', priorities)
redis.call('GET', pc)
redis.call('SCARD', extras)
if target then redis.call('ZCARD', target) end
local statuses, lines, ranks, refuse = {}, {}, {}, false
for i = 1, jobs_n do
  local size = redis.pcall('HLEN', KEYS[sources_at + i * 2 - 1])
  statuses[i] = type(size) == 'table' and 'wrongtype' or size == 0 and 'gone' or 'ok'
  ranks[i] = tonumber(ARGV[items(i) + items_priority])
  if statuses[i] == 'ok' then
    local field = redis.call('HMGET', KEYS[sources_at + i * 2 - 1], 'parentKey', 'priority')
    if field[1] then
      statuses[i] = 'parent'
      refuse = true
    end
    -- A delayed job's priority stands in its hash only.
    local rank = state == 'delayed' and tonumber(field[2])
    if rank and rank >= 1 then ranks[i] = math.floor(math.min(rank, 2097151)) end
  end
  -- A hash there is a job whose id ends in `:logs`, not a log.
  local count = redis.pcall('LLEN', KEYS[sources_at + i * 2])
  lines[i] = type(count) == 'number' and count > 0
end
if refuse then return { from, statuses } end

local ids, scored, ranked, owners = {}, {}, {}, {}
for i = 1, jobs_n do
  if statuses[i] == 'ok' then
    local id = string.sub(KEYS[jobs_at + i * 2 - 1], jobs_id)
    redis.call('COPY', KEYS[sources_at + i * 2 - 1], KEYS[jobs_at + i * 2 - 1], 'REPLACE')
    if lines[i] then
      redis.call('COPY', KEYS[sources_at + i * 2], KEYS[jobs_at + i * 2], 'REPLACE')
      owners[#owners + 1] = id
    end
    ids[#ids + 1] = id
    scored[#scored + 1] = ARGV[items(i) + items_score]
    scored[#scored + 1] = id
    if ranks[i] > 0 then
      ranked[#ranked + 1] = id
      ranked[#ranked + 1] = ranks[i]
    end
  end
end
if #ids > 0 then
  if target then redis.call('ZADD', target, unpack(scored)) else redis.call('RPUSH', wait, unpack(ids)) end
end
if #ranked > 0 then redis.call('HSET', priorities, unpack(ranked)) end
if #owners > 0 then
  redis.call('SADD', extras, unpack(owners))
  redis.call('HSET', meta, 'extras', '1')
end
if state == 'prioritized' then redis.call('SET', pc, string.format('%.0f', to % 4294967296)) end
redis.call('HSET', meta, cursor, string.format('%.0f', to))
return { to, statuses }
