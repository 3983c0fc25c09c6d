-- Starts claimed jobs: verifies the lease and returns their fields.
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
local odd, whole = string.gsub(ARGV[1] .. ' ', '%d+ ', '')
if odd ~= '' or whole ~= 1 then
  for _, arg in ipairs({ { 1, 'jobs' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local jobs_n = ARGV[1] + 0
if jobs_n > 500 then bad = bad or 'jobs' end
local token = ARGV[2]
local jobs_at, jobs_w = 5, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
-- What a run needs of its job's hash, by place; a field it does not have is false, and left out at the end. A
-- waiting job has four or five fields: to read what is there costs less than to ask for all there may be.
local place

local function run_fields(key)
  local all = redis.pcall('HGETALL', key)
  if all.err then return all end
  local name, data, opts, timestamp, others = false, false, false, false, false
  for at = 1, #all, 2 do
    local field = all[at]
    if field == 'name' then name = all[at + 1]
    elseif field == 'data' then data = all[at + 1]
    elseif field == 'opts' then opts = all[at + 1]
    elseif field == 'timestamp' then timestamp = all[at + 1]
    else others = true
    end
  end
  local fields = { name, data, opts, timestamp }
  if not others then return fields end
  place = place or { atm = 5, ats = 6, stc = 7, priority = 8, delay = 9, attemptsMade = 10, progress = 11,
    deid = 12, parentKey = 13, rjk = 14, stacktrace = 15 }
  for at = 5, 15 do fields[at] = false end
  for at = 1, #all, 2 do
    local known = place[all[at]]
    if known then fields[known] = all[at + 1] end
  end
  for last = 15, 5, -1 do
    if fields[last] then break end
    fields[last] = nil
  end
  return fields
end
if jobs_n == 0 then return {} end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local why = redis.call('HMGET', verdicts, unpack(ids))
redis.call('ZCARD', active)

local out, begun, started, lost = {}, {}, {}, {}
for i = 1, jobs_n do
  local held = lease_of(owner[i])
  if held ~= token then
    out[i] = { 'lost', false, {} }
  else
    local fields = run_fields(KEYS[jobs_at + i])
    if fields.err or not fields[1] then
      lost[#lost + 1] = ids[i]
      out[i] = { 'missing', false, {} }
    else
      started[#started + 1] = ids[i]
      begun[#begun + 1] = ids[i]
      begun[#begun + 1] = string.gsub(owner[i], '!$', '') .. '!'
      out[i] = { 'ok', why[i], fields }
    end
  end
end
if #lost > 0 then
  redis.call('ZREM', active, unpack(lost))
  redis.call('HDEL', owners, unpack(lost))
  redis.call('HDEL', verdicts, unpack(lost))
end
-- Taken out before it is put back: the first write must be one that maxmemory lets pass.
if #begun > 0 then
  redis.call('HDEL', owners, unpack(started))
  redis.call('HSET', owners, unpack(begun))
end
return out
