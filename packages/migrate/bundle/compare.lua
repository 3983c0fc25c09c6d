-- Compares jobs of both wires field by field and line by line, on the server, byte for byte.
local unpack = unpack or table.unpack
local stamp, meta, extras = KEYS[1], KEYS[2], KEYS[3]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local sources_n, jobs_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  sources_n = b0 * 100 + b1 * 10 + b2 - 5328
  jobs_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if sources_n > 500 then bad = bad or 'sources' end
if jobs_n > 500 then bad = bad or 'jobs' end
local own = ARGV[2]
local source = ARGV[3]
local sources_at, sources_w = 3, 1
local jobs_at, jobs_w = sources_at + sources_n * sources_w, 2
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
local function fields_of(key)
  local list = redis.pcall('HGETALL', key)
  local map, count = {}, 0
  if list.err then return map, 0 end
  for n = 1, #list, 2 do
    map[list[n]] = list[n + 1]
    count = count + 1
  end
  return map, count
end
local out = {}
for i = 1, jobs_n do
  local old, old_n = fields_of(KEYS[sources_at + i * 2 - 1])
  local new, new_n = fields_of(KEYS[jobs_at + i * 2 - 1])
  local status = 'same'
  if old_n == 0 and new_n == 0 then status = 'none'
  elseif new_n == 0 then status = 'lost'
  elseif old_n == 0 then status = 'gone'
  else
    for field, value in pairs(old) do
      if new[field] ~= value then status = 'field ' .. field end
    end
    for field in pairs(new) do
      if old[field] == nil then status = 'field ' .. field end
    end
  end
  if status == 'same' then
    local count = redis.pcall('LLEN', KEYS[sources_at + i * 2])
    if type(count) == 'table' then count = 0 end
    if count ~= redis.call('LLEN', KEYS[jobs_at + i * 2]) then status = 'logs' end
    if status == 'same' and count > 0
      and redis.call('SISMEMBER', extras, string.sub(KEYS[jobs_at + i * 2 - 1], jobs_id)) == 0 then
      status = 'extras'
    end
    if status == 'same' and count > 0 then
      local old_lines = redis.call('LRANGE', KEYS[sources_at + i * 2], 0, 199)
      local new_lines = redis.call('LRANGE', KEYS[jobs_at + i * 2], 0, 199)
      for n = 1, #old_lines do
        if old_lines[n] ~= new_lines[n] then status = 'logs' end
      end
      -- The caller reads the rest in pages, so no call walks a whole log.
      if status == 'same' and count > 200 then status = 'long' end
    end
  end
  out[i] = status
end
return out
