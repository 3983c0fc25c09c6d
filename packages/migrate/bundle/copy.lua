-- Copies one batch of jobs, hash first and membership second, and moves the cursor of their state.
local unpack = unpack or table.unpack
local stamp, meta, wait, prioritized, priorities, pc, delayed, completed, failed, extras = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
if #ARGV < 6 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local sources_n, jobs_n, items_n
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  sources_n = b0 * 100 + b1 * 10 + b2 - 5328
  jobs_n = b3 * 100 + b4 * 10 + b5 - 5328
  items_n = b6 * 100 + b7 * 10 + b8 - 5328
end
if sources_n > 500 then bad = bad or 'sources' end
if jobs_n > 500 then bad = bad or 'jobs' end
if items_n > 500 then bad = bad or 'items' end
if not string.find(ARGV[4] .. ' ' .. ARGV[5], '^%d+ %d+$') then
  for _, arg in ipairs({ { 4, 'from' }, { 5, 'to' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local own = ARGV[2]
local state = ARGV[3]
local from = ARGV[4] + 0
if from > 9007199254740991 then bad = bad or 'from' end
local to = ARGV[5] + 0
if to > 9007199254740991 then bad = bad or 'to' end
local source = ARGV[6]
local sources_at, sources_w = 10, 1
local jobs_at, jobs_w = sources_at + sources_n * sources_w, 2
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local items_base, items_w = 6, 2
local function items(row) return items_base + (row - 1) * items_w end
local items_score, items_priority = 1, 2
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= items_base + items_n * items_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = items_base, items_base + (items_n - 1) * items_w, items_w do
  local text = ARGV[row + 2]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG items.priority') end
  end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- The refusal of a stamp that is not the one the call needs.
local function refused(found)
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', ' ')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 128))
end
-- The refusal of a call that was made for another v1 queue than the run's.
local function other_source(named)
  local shown = string.gsub(named or 'none', '%c', ' ')
  return redis.error_reply('EMQSTATE source ' .. string.sub(shown, 1, 256))
end
-- A tool that was paused and overtaken stops here: the stamp must be this run's, in this phase.
if not string.find(own, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG own')
end
local found_version = redis.pcall('GET', stamp)
if found_version ~= own then return refused(found_version) end
-- A tool told another prefix or spelling than the fence stops here: v2:meta names the run's v1 queue.
local named_source = redis.call('HGET', meta, 'source')
if named_source ~= source then return other_source(named_source) end
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
