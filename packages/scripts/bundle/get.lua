-- Reads one job: its fields, its state and, while it runs, its owner.
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
local meta, prioritized, delayed, active, owners, completed, failed, waiting_children, held, trash = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
if #ARGV < 1 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if jobs_n > 100 then bad = bad or 'jobs' end
local jobs_at, jobs_w = 11, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 1 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local SETS = {
  { 'active', active },
  { 'delayed', delayed },
  { 'prioritized', prioritized },
  { 'completed', completed },
  { 'failed', failed },
  { 'waiting-children', waiting_children },
  { 'held', held },
}
local out = {}
for i = 1, jobs_n do
  local id = string.sub(KEYS[jobs_at + i], jobs_id)
  local fields = redis.call('HGETALL', KEYS[jobs_at + i])
  out[i] = false
  if #fields > 0 and not redis.call('ZSCORE', trash, id) then
    -- The wait list is not walked: a job in no other state is waiting.
    local state = 'waiting'
    for _, set in ipairs(SETS) do
      if state == 'waiting' and redis.call('ZSCORE', set[2], id) then state = set[1] end
    end
    out[i] = { state, redis.call('HGET', owners, id), fields }
  end
end
return out
