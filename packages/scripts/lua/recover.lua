-- Puts jobs whose lease expired back in line, ahead of their peers.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_max = tonumber(opts[2] or '10000') or 10000
--@include lease
--@include events
--@include sequence
--@include line

if jobs_n ~= leases_n then return redis.error_reply('EMQARG leases') end
if jobs_n == 0 then return {} end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local score = redis.call('ZMSCORE', active, unpack(ids))
local rank = redis.call('HMGET', priorities, unpack(ids))
local marked = redis.call('ZCARD', marker)
--@include marker
redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
redis.call('HLEN', verdicts)
redis.call('XLEN', events)

local out, back, stalled, free, doomed, gone, met = {}, {}, {}, {}, {}, {}, {}
for i = 1, jobs_n do
  local id, key, row = ids[i], KEYS[jobs_at + i], leases(i)
  -- Compared again here: a lease that was renewed or taken since the look is not ours to end.
  if met[id] or not score[i] or tonumber(score[i]) ~= tonumber(ARGV[row + leases_score])
    or -tonumber(score[i]) > now or (owner[i] or '') ~= ARGV[row + leases_owner] then
    out[i] = 'kept'
  else
    met[id] = true
    back[#back + 1] = id
    local job = redis.pcall('HMGET', key, 'name', 'stc', 'ats', 'rel')
    local _, at, begun = lease_of(owner[i])
    if job.err or not job[1] then
      gone[#gone + 1] = id
      out[i] = 'missing'
    else
      line_up(id, rank_of(rank[i]), 'front')
      out[i] = 'released'
      -- Popped but never begun costs the job nothing: the fault was not its own. But a job that was
      -- claimed ahead may kill its worker before it is marked, so this ends somewhere too.
      local released = (tonumber(job[4]) or 0) + 1
      if not begun and released <= 3 then
        free[#free + 1] = { key, released }
      else
        local count = (tonumber(job[2]) or 0) + 1
        stalled[#stalled + 1] = { key, count, (tonumber(job[3]) or 0) + 1, at }
        out[i] = 'stalled'
        if count > budget then
          doomed[#doomed + 1] = id
          doomed[#doomed + 1] = 'stalled'
        end
        emit('s', id, '')
      end
    end
  end
end
if #back > 0 then
  redis.call('ZREM', active, unpack(back))
  redis.call('HDEL', owners, unpack(back))
end
if #gone > 0 then
  redis.call('HDEL', priorities, unpack(gone))
  redis.call('HDEL', verdicts, unpack(gone))
end
for n = 1, #stalled do
  local key, count, started, at = unpack(stalled[n])
  redis.call('HSET', key, 'stc', count, 'ats', started, 'processedOn', at)
end
for n = 1, #free do redis.call('HSET', free[n][1], 'rel', free[n][2]) end
if #doomed > 0 then
  redis.call('HSET', verdicts, unpack(doomed))
  redis.call('HSET', meta, 'verdicts', '1')
end
flush_line()
if not opts[1] then arm(in_line) end
flush_events()
return out
