-- Reads events behind a place in the stream, with the first and the last place there is, in one step.
local unpack = unpack or table.unpack
local stamp = KEYS[1]
local found_version = redis.pcall('GET', stamp)
if not (type(found_version) == 'string' and string.sub(found_version, 1, 9) == 'echomq:2.') then
  local found = found_version
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', '?')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 64))
end
local meta, events = KEYS[2], KEYS[3]
local bad
local number = {}
local function int(at, name)
  local text = ARGV[at]
  if number[text] then return number[text] end
  if text and #text < 17 and string.find(text, '^%d+$') then
    local value = tonumber(text)
    if value <= 9007199254740991 then
      number[text] = value
      return value
    end
  end
  bad = bad or name
  return 0
end
local function text(at, name)
  if not ARGV[at] then bad = bad or name end
  return ARGV[at] or ''
end
local after = text(1, 'after')
local inclusive = int(2, 'inclusive')
if inclusive > 1 then bad = bad or 'inclusive' end
local count = int(3, 'count')
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
