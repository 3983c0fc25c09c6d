-- Counts the jobs in line of each priority named; 0 counts those without one.
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
local meta, wait, prioritized = KEYS[2], KEYS[3], KEYS[4]
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
local ranks_n = int(1, 'ranks')
if ranks_n > 500 then bad = bad or 'ranks' end
local ranks_base, ranks_w = 1, 1
local function ranks(row) return ranks_base + (row - 1) * ranks_w end
local ranks_priority = 1
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= ranks_base + ranks_n * ranks_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
for row = 1, ranks_n do
  if int(ranks(row) + 1, 'ranks.priority') > 2097151 then bad = bad or 'ranks.priority' end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local out = {}
local plain = redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
for i = 1, ranks_n do
  local priority = tonumber(ARGV[ranks(i) + ranks_priority])
  out[i] = plain
  if priority > 0 then
    local base = priority * 4294967296
    out[i] = redis.call('ZCOUNT', prioritized, string.format('%.0f', base),
      string.format('(%.0f', base + 4294967296))
  end
end
return out
