-- Tells what is wrong with jobs: each id's place, hash, lease, priority and other keys, in one step.
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
local meta, wait, prioritized, delayed, active, completed, failed, waiting_children, held, trash, owners, priorities, verdicts, extras = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 9 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, seen_n, walk
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8 = string.byte(ARGV[1], 1, 9)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  seen_n = b3 * 100 + b4 * 10 + b5 - 5328
  walk = b6 * 100 + b7 * 10 + b8 - 5328
end
if jobs_n > 100 then bad = bad or 'jobs' end
if seen_n > 100 then bad = bad or 'seen' end
if walk > 1 then bad = bad or 'walk' end
local jobs_at, jobs_w = 15, 5
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local seen_base, seen_w = 1, 1
local function seen(row) return seen_base + (row - 1) * seen_w end
local seen_waits = 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= seen_base + seen_n * seen_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = seen_base, seen_base + (seen_n - 1) * seen_w, seen_w do
  local text = ARGV[row + 1]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG seen.waits') end
  end
  if number[text] > 3 then bad = bad or 'seen.waits' end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- What is wrong with one id. `walk` looks into wait itself; without it the caller says how often it saw
-- the id there.
local STATES = {
  { 'active', active }, { 'completed', completed }, { 'failed', failed },
  { 'prioritized', prioritized }, { 'delayed', delayed },
  { 'waiting-children', waiting_children }, { 'held', held },
}
local ENDED = { completed = true, failed = true }

local function diagnose(n, walk, seen)
  local at = jobs_at + (n - 1) * jobs_w
  local key = KEYS[at + 1]
  local id = string.sub(key, jobs_id)
  local job = redis.pcall('HMGET', key, 'name', 'finishedOn')
  local it = { id = id, key = key, places = {}, faults = {}, sides = 0, waits = seen }
  local function fault(kind) it.faults[#it.faults + 1] = kind end
  if job.err then
    fault('wrong-type')
    return it
  end
  it.exists, it.finished = job[1] and true, job[2] and true
  local score
  for _, set in ipairs(STATES) do
    local found = redis.call('ZSCORE', set[2], id)
    if found then it.places[#it.places + 1] = set[1] end
    if found and set[1] == 'prioritized' then score = tonumber(found) end
  end
  local running = it.places[1] == 'active'
  if walk then it.waits = #redis.call('LPOS', wait, id, 'COUNT', 3) end
  for _ = 1, it.waits do it.places[#it.places + 1] = 'waiting' end
  it.trash = redis.call('ZSCORE', trash, id)
  it.owner = redis.call('HGET', owners, id)
  it.rank = redis.call('HGET', priorities, id)
  it.verdict = redis.call('HGET', verdicts, id)
  it.extra = redis.call('SISMEMBER', extras, id) == 1
  for k = 2, jobs_w do it.sides = it.sides + redis.call('EXISTS', KEYS[at + k]) end
  local stands = #it.places > 0
  if stands and not it.exists then fault('missing-hash') end
  if #it.places > 1 or stands and it.trash then fault('two-places') end
  if it.exists and not stands and not it.trash then fault('orphan-hash') end
  if running and not it.owner then fault('active-without-owner') end
  if it.owner and not running then fault('owner-without-active') end
  local live = it.exists and stands and not ENDED[it.places[1]]
  if it.rank and not live and not it.trash then fault('stray-priority') end
  -- Where it would go back to after a run that is lost.
  it.place = score and math.floor(score / 4294967296)
  if it.exists and score and tonumber(it.rank) ~= it.place then fault('wrong-priority') end
  if it.verdict and not live and not it.trash then fault('stray-verdict') end
  if it.extra and it.sides == 0 and not it.trash then fault('stray-extra') end
  if it.sides > 0 and not it.extra and not it.trash then fault('unnamed-extra') end
  if not it.exists and not it.trash and not it.extra and it.sides == 0
    and redis.call('EXISTS', key) == 1 then
    fault('half-hash')
  end
  return it
end
if jobs_n ~= seen_n then return redis.error_reply('EMQARG seen') end
if walk == 1 and jobs_n > 10 then return redis.error_reply('EMQARG jobs') end
redis.call('LLEN', wait)
local out = {}
for i = 1, jobs_n do
  out[i] = diagnose(i, walk == 1, tonumber(ARGV[seen(i) + seen_waits])).faults
end
return out
