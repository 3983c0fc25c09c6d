-- Puts jobs whose lease expired back in line, ahead of their peers; a lease no option allows is cut short.
local opts = redis.call('HMGET', meta, 'paused', 'events.max')
local events_text = opts[2]
--@include lease
--@include deadline
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
local why = redis.call('HMGET', verdicts, unpack(ids))
redis.call('XLEN', events)

local clamped, nearer = {}, {}
local out, back, stalled, free, doomed, gone, met = {}, {}, {}, {}, {}, {}, {}
for i = 1, jobs_n do
  local id, key, row = ids[i], KEYS[jobs_at + i], leases(i)
  -- Compared again here: a lease that was renewed or taken since the look is not ours to end.
  local ends, place = deadline_of(score[i] or '-inf')
  if met[id] or not score[i] or tonumber(score[i]) ~= tonumber(ARGV[row + leases_score])
    or (owner[i] or '') ~= ARGV[row + leases_owner] or ends > now and ends <= now + LONGEST then
    out[i] = 'kept'
  elseif ends > now then
    met[id] = true
    out[i] = 'clamped'
    clamped[#clamped + 1] = id
    nearer[#nearer + 1] = -(now + LONGEST + place)
    nearer[#nearer + 1] = id
  else
    met[id] = true
    back[#back + 1] = id
    local job = redis.pcall('HMGET', key, 'name', 'stc', 'ats', 'rel')
    local _, at, begun = lease_of(owner[i])
    if job.err or not job[1] then
      gone[#gone + 1] = id
      out[i] = 'missing'
    else
      local ends_now = why[i]
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
        if count > budget and not why[i] then
          doomed[#doomed + 1] = id
          doomed[#doomed + 1] = 'stalled'
          ends_now = true
        end
        emit('s', id, '')
      end
      -- What must end goes ahead of all lines.
      line_up(id, not ends_now and rank_of(rank[i]), 'front')
    end
  end
end
if #back > 0 then
  redis.call('ZREM', active, unpack(back))
  redis.call('HDEL', owners, unpack(back))
end
-- Taken out before it is put back: the first write must be one that maxmemory lets pass.
if #clamped > 0 then
  redis.call('ZREM', active, unpack(clamped))
  redis.call('ZADD', active, unpack(nearer))
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
