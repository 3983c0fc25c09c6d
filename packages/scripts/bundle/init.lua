-- Opens a queue: stamp, v2:meta version and opened in one step.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if found_version ~= false and not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta = KEYS[2]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if not string.find(ARGV[1], '^%d+$') then
  for _, arg in ipairs({ { 1, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[1] + 0
if now > 9007199254740991 then bad = bad or 'now' end
if not bad and #KEYS ~= 2 then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local known = redis.call('HMGET', meta, 'version', 'opened')
if found_version == false then
  -- v2:meta without a stamp is an intruder's work; only repair may put the stamp back.
  if redis.call('EXISTS', meta) == 1 then return redis.error_reply('EMQFENCE none') end
  redis.call('SET', stamp, 'echomq:2.0.0')
  redis.call('HSET', meta, 'version', 'echomq:2.0.0', 'opened', now)
  return 'created'
end
if known[2] then return 'open' end
-- `turn` takes two fields for these two.
redis.call('HSET', meta, 'version', known[1] or 'echomq:2.0.0', 'opened', now)
return 'opened'
