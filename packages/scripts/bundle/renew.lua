-- Moves the deadline of leases that are still owned.
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
local meta, active, owners, verdicts = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local leases_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  leases_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if leases_n > 500 then bad = bad or 'leases' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'deadline' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local deadline = ARGV[2] + 0
if deadline > 9007199254740991 then bad = bad or 'deadline' end
local leases_base, leases_w = 2, 2
local function leases(row) return leases_base + (row - 1) * leases_w end
local leases_id, leases_token = 1, 2
if not bad and #KEYS ~= 5 then bad = 'keys' end
if not bad and #ARGV ~= leases_base + leases_n * leases_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
-- The score of a lease is minus its deadline, with a part of a millisecond for the place in its claim.
-- LONGEST is the longest lease any option allows, in ms.
local LONGEST = 86400000
local function deadline_of(score)
  local value = -tonumber(score)
  local whole = math.floor(value)
  local place = value - whole
  return whole, place == place and place or 0
end
if leases_n == 0 then return { {}, {} } end
local ids = {}
for i = 1, leases_n do ids[i] = ARGV[leases(i) + leases_id] end
local owner = redis.call('HMGET', owners, unpack(ids))
local why = redis.call('HMGET', verdicts, unpack(ids))
local score = redis.call('ZMSCORE', active, unpack(ids))

local lost, told, scores, kept = {}, {}, {}, {}
for i = 1, leases_n do
  if lease_of(owner[i]) ~= ARGV[leases(i) + leases_token] then
    lost[#lost + 1] = ids[i]
  else
    kept[#kept + 1] = ids[i]
    local _, place = deadline_of(score[i] or 0)
    scores[#scores + 1] = -(deadline + place)
    scores[#scores + 1] = ids[i]
    if why[i] then told[#told + 1] = { ids[i], why[i] } end
  end
end
-- Taken out before it is put back: the first write must be one that maxmemory lets pass.
if #kept > 0 then
  redis.call('ZREM', active, unpack(kept))
  redis.call('ZADD', active, unpack(scores))
end
return { lost, told }
