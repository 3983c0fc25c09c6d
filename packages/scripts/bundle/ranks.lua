-- Counts the jobs in line of each priority named; 0 counts those without one.
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
local meta, wait, prioritized = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local ranks_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  ranks_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if ranks_n > 500 then bad = bad or 'ranks' end
local ranks_base, ranks_w = 1, 1
local function ranks(row) return ranks_base + (row - 1) * ranks_w end
local ranks_priority = 1
if not bad and #KEYS ~= 4 then bad = 'keys' end
if not bad and #ARGV ~= ranks_base + ranks_n * ranks_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = ranks_base, ranks_base + (ranks_n - 1) * ranks_w, ranks_w do
  local text = ARGV[row + 1]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG ranks.priority') end
  end
  if number[text] > 2097151 then bad = bad or 'ranks.priority' end
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
