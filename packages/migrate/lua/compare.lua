-- Compares jobs of both wires field by field and line by line, on the server, byte for byte.
--@include refuse
--@include other_source
--@include run_fence
--@include source
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
