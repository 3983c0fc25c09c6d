-- Puts jobs that ended back in line, behind all others of their priority.
local opts = redis.call('HMGET', meta, 'paused', 'events.max', 'closing')
if opts[3] then return redis.error_reply('EMQSTATE the queue is closing: obliterate has not ended') end
local events_text = opts[2]
--@include events
--@include sequence
--@include line
local set = ({ completed = completed, failed = failed })[state]
if not set then return redis.error_reply('EMQARG state') end
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('XLEN', events)
redis.call('HLEN', priorities)
for _, one in ipairs({ prioritized, completed, failed }) do redis.call('ZCARD', one) end
if jobs_n == 0 then return {} end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local score = redis.call('ZMSCORE', set, unpack(ids))

local out, met, leave, back, ranked = {}, {}, {}, {}, {}
for i = 1, jobs_n do
  local id, key = ids[i], KEYS[jobs_at + i]
  local job = redis.pcall('HMGET', key, 'name', 'priority')
  local stands = not job.err and job[1]
  if met[id] then
    out[i] = 'EMQSTATE named twice'
  elseif not score[i] then
    out[i] = stands and 'EMQSTATE the job is not ' .. state or 'EMQMISSING no such job'
  elseif tonumber(score[i]) > before then
    out[i] = 'EMQSTATE the job ended later'
  else
    leave[#leave + 1] = id
    out[i] = 'EMQMISSING the job is gone'
    if stands then
      out[i] = 'ok'
      local rank = rank_of(job[2])
      back[#back + 1] = { id, key, rank }
      if rank then
        ranked[#ranked + 1] = id
        ranked[#ranked + 1] = rank
      end
    end
  end
  met[id] = true
end
if #leave > 0 then redis.call('ZREM', set, unpack(leave)) end
for n = 1, #back do
  local id, key, rank = unpack(back[n])
  redis.call('HDEL', key, 'finishedOn', 'processedOn', 'failedReason', 'returnvalue')
  -- Also by the names older jobs were stored with.
  if reset == 1 then redis.call('HDEL', key, 'atm', 'ats', 'stc', 'attemptsMade') end
  line_up(id, rank, false)
  emit('w', id, '')
end
if #ranked > 0 then redis.call('HSET', priorities, unpack(ranked)) end
flush_line()
save_sequence()
if not opts[1] then arm(in_line) end
flush_events()
return out
