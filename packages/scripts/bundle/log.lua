-- Appends lines to a job's log and keeps the last ones.
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
local meta, owners, trash, extras = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n, lines_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
  lines_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if jobs_n > 100 then bad = bad or 'jobs' end
if lines_n > 100 then bad = bad or 'lines' end
if not string.find(ARGV[3], '^%d+$') then
  for _, arg in ipairs({ { 3, 'keep' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local token = ARGV[2]
local keep = ARGV[3] + 0
if keep > 100000 then bad = bad or 'keep' end
local jobs_at, jobs_w = 5, 2
local jobs_id = #stamp - 4 + #'v2:job:' + 1
local lines_base, lines_w = 3, 1
local function lines(row) return lines_base + (row - 1) * lines_w end
local lines_line = 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= lines_base + lines_n * lines_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
-- Whether a job may be written to: it stands, and a run that names its token still holds the lease.
local function refused(key, id)
  if redis.pcall('HEXISTS', key, 'name') ~= 1 or redis.call('ZSCORE', trash, id) then
    return 'EMQMISSING no such job'
  end
  if token == '' then return nil end
  local held = lease_of(redis.call('HGET', owners, id))
  if held ~= token then return 'EMQSTALE the run holds no lease' end
end
redis.call('HLEN', meta)
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
redis.call('SCARD', extras)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
if keep == 0 then return redis.error_reply('EMQARG keep') end
local key, logs = KEYS[jobs_at + 1], KEYS[jobs_at + 2]
local id = string.sub(key, jobs_id)
redis.call('LLEN', logs)
local no = refused(key, id)
if no then return { no, 0 } end
if lines_n == 0 then return { 'ok', redis.call('LLEN', logs) } end
-- Named before the list stands, so that nobody removes the job and leaves the list.
redis.call('SADD', extras, id)
redis.call('HSET', meta, 'extras', '1')
local text = {}
for i = 1, lines_n do text[i] = ARGV[lines(i) + lines_line] end
redis.call('RPUSH', logs, unpack(text))
redis.call('LTRIM', logs, -keep, -1)
return { 'ok', redis.call('LLEN', logs) }
