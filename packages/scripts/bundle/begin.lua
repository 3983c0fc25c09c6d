-- Starts claimed jobs: verifies the lease and returns their fields.
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
local meta, active, owners, verdicts = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
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
local jobs_n = int(1, 'jobs')
if jobs_n > 500 then bad = bad or 'jobs' end
local token = text(2, 'token')
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
-- What a run needs of its job's hash. A field the hash does not have is false, and left out at the end.
local function run_fields(key)
  local fields = redis.pcall('HMGET', key, 'name', 'data', 'opts', 'timestamp', 'atm', 'ats', 'stc',
    'priority', 'delay', 'attemptsMade', 'progress', 'deid', 'parentKey', 'rjk', 'stacktrace')
  local last = #fields
  while last > 0 and not fields[last] do
    fields[last] = nil
    last = last - 1
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
