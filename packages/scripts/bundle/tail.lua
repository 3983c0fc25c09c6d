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
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
local odd, whole = string.gsub(ARGV[2] .. ' ' .. ARGV[3] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 2 then
  for _, arg in ipairs({ { 2, 'inclusive' }, { 3, 'count' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local after = ARGV[1]
local inclusive = ARGV[2] + 0
if inclusive > 1 then bad = bad or 'inclusive' end
local count = ARGV[3] + 0
if count > 100 then bad = bad or 'count' end
if not bad and #KEYS ~= 3 then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
