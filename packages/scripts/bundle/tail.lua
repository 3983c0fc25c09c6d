-- Reads events behind a place in the stream, with the first and the last place there is, in one step.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (found_version == 'echomq:2.0.0' or type(found_version) == 'string'
  and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, events = KEYS[2], KEYS[3]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local inclusive, count
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  inclusive = b0 * 100 + b1 * 10 + b2 - 5328
  count = b3 * 100 + b4 * 10 + b5 - 5328
end
if inclusive > 1 then bad = bad or 'inclusive' end
if count > 100 then bad = bad or 'count' end
local after = ARGV[2]
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local function place(id)
  local ms, seq = string.match(id, '^(%d+)%-(%d+)$')
  if not ms or #ms > 16 or #seq > 16 then return nil end
  return tonumber(ms), tonumber(seq)
end
if not place(after) then return redis.error_reply('EMQARG after') end
local first = redis.call('XRANGE', events, '-', '+', 'COUNT', 1)[1]
if not first then return { {}, '', '' } end
local top = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
local entries = {}
if count > 0 then
  local from = inclusive == 1 and after or '(' .. after
  entries = redis.call('XRANGE', events, from, '+', 'COUNT', count)
end
return { entries, first[1], top[1] }
