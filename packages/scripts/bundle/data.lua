-- Replaces the payload of a job.
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
local meta, owners, trash = KEYS[2], KEYS[3], KEYS[4]
if #ARGV < 3 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if jobs_n > 1 then bad = bad or 'jobs' end
local token = ARGV[2]
local data = ARGV[3]
local jobs_at, jobs_w = 4, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 3 then bad = 'arguments' end
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
redis.call('ZCARD', trash)
redis.call('HLEN', owners)
if jobs_n ~= 1 then return redis.error_reply('EMQARG jobs') end
local key = KEYS[jobs_at + 1]
local no = refused(key, string.sub(key, jobs_id))
if no then return no end
redis.call('HSET', key, 'data', data)
return 'ok'
