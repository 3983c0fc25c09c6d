-- Removes v2 keys of a queue that is rolled back or removed.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local victims_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  victims_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if victims_n > 500 then bad = bad or 'victims' end
local own = ARGV[2]
local victims_at, victims_w = 2, 1
if not bad and #KEYS ~= victims_at + victims_n * victims_w then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- The refusal of a stamp that is not the one the call needs.
local function refused(found)
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', ' ')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 128))
end
-- A tool that was paused and overtaken stops here: the stamp must be this run's, in this phase.
if not string.find(own, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG own')
end
local found_version = redis.pcall('GET', stamp)
if found_version ~= own then return refused(found_version) end
if not string.find(own, ':rollback$') and not string.find(own, ':remove$') then
  return redis.error_reply('EMQARG own')
end
local base = string.sub(stamp, 1, -5) .. 'v2:'
for i = 1, victims_n do
  local key = KEYS[victims_at + i]
  -- v2:meta goes last, with the stamp.
  if string.sub(key, 1, #base) ~= base or key == meta then return redis.error_reply('EMQARG victims') end
end
local gone = 0
for i = 1, victims_n do gone = gone + redis.call('UNLINK', KEYS[victims_at + i]) end
return gone
