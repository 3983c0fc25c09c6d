-- Starts claimed jobs: verifies the lease and returns their fields.
--@include lease
--@include run_fields
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
