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
