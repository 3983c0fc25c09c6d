-- Looks for work of the sweep: leases past their deadline and ids in trash, a marker that nobody armed.
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
local meta, active, owners, trash, wait, prioritized, marker, delayed = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local limit
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  limit = b0 * 100 + b1 * 10 + b2 - 5328
end
if limit > 500 then bad = bad or 'limit' end
if not string.find(ARGV[2], '^%d+$') then
  for _, arg in ipairs({ { 2, 'now' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
if not bad and #KEYS ~= 9 then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
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
-- Sorts leases so that the reverse is the order they had in line: by the time of the claim, by the claim,
-- by the place in it. Renewals move deadlines and keep the rest.
local function line_order(rows)
  local key = {}
  for _, row in ipairs(rows) do
    local token, at = lease_of(row[3])
    local whole, place = deadline_of(row[2])
    key[row] = { tonumber(at) or 0, #(token or ''), token or '', place, whole, row[1] }
  end
  table.sort(rows, function(one, other)
    local a, b = key[one], key[other]
    for n = 1, 6 do
      if a[n] ~= b[n] then return a[n] > b[n] end
    end
    return false
  end)
  return rows
end
local found = redis.call('ZRANGEBYSCORE', active, '(' .. string.format('%.0f', -now - 1), '+inf',
  'WITHSCORES', 'LIMIT', 0, limit)
-- What lies further ahead than any lease can was written by another clock.
local wrong = redis.call('ZRANGEBYSCORE', active, '-inf', string.format('%.0f', -now - LONGEST - 1),
  'WITHSCORES', 'LIMIT', 0, limit)
for i = 1, #wrong do found[#found + 1] = wrong[i] end
local ids, leases_out = {}, {}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
local owner = {}
if #ids > 0 then owner = redis.call('HMGET', owners, unpack(ids)) end
for i = 1, #ids do leases_out[i] = { ids[i], found[2 * i], owner[i] or '' } end
local dead = limit > 0 and redis.call('ZRANGE', trash, 0, limit - 1) or {}
local opts = redis.call('HMGET', meta, 'paused')
local unmarked = 0
if not opts[1] and redis.call('ZCARD', marker) == 0
  and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then
  unmarked = 1
end
local head = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
return { line_order(leases_out), dead, unmarked, head[2] and math.floor(tonumber(head[2])) or 0 }
