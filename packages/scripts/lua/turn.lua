-- One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.
-- Everything stands in line here: a closure, and a table that grows, cost as much as a small command.
-- A queue with no setting has two fields, `version` and `opened`.
local events_text
if redis.call('HLEN', meta) ~= 2 then
  local opts = redis.call('HMGET', meta, 'paused', 'concurrency', 'rate.max', 'verdicts', 'extras', 'events.max')
  if opts[1] or opts[2] or opts[3] or opts[4] or opts[5] then
    return redis.error_reply('EMQRETRY the queue needs step')
  end
  events_text = opts[6]
end
--@include events_max

local sub, match = string.sub, string.match
-- None where none of the runs returned anything.
if results_n ~= done_n and results_n ~= 0 then return redis.error_reply('EMQARG results') end
if finished_n > 1 then return redis.error_reply('EMQARG finished') end
if attempts_n ~= finished_n * done_n then return redis.error_reply('EMQARG attempts') end
if deadline > now + 86400000 then return redis.error_reply('EMQARG deadline') end
if not string.find(token, '^[%w._-]+$') then return redis.error_reply('EMQARG token') end
local named = 0
for c = 1, claims_n do named = named + number[ARGV[claims_base + 2 * c]] end
if named ~= done_n then return redis.error_reply('EMQARG claims') end
local runs, atm, ats
for i = 1, attempts_n do
  -- Nearly all are the first of both.
  if ARGV[attempts_base + i] ~= runs then
    runs = ARGV[attempts_base + i]
    if #runs > 20 or not string.find(runs, '^%d+%.%d+$') then return redis.error_reply('EMQARG attempts.runs') end
  end
end
runs = nil
local completed = KEYS[finished_at + 1]

--@include one
--@include settle
local ev, ev_n, ev_bytes, removed, gone = {}, 0, 0, {}, {}
for i = 1, done_n do
  if not statuses or statuses[i] == 'ok' then
    local id, value, code = ids[i], results_n > 0 and ARGV[results_base + i] or '', 'c'
    if completed then
      local key = KEYS[done_at + i]
      if ARGV[attempts_base + i] ~= runs then
        runs = ARGV[attempts_base + i]
        atm, ats = match(runs, '^(%d+)%.(%d+)$')
      end
      if value == '' then
        redis.call('HSET', key, 'finishedOn', now_text, 'processedOn', begun_at[i], 'atm', atm, 'ats', ats)
      else
        redis.call('HSET', key, 'finishedOn', now_text, 'processedOn', begun_at[i], 'atm', atm, 'ats', ats,
          'returnvalue', value)
      end
      gone[#gone + 1] = now_text
      gone[#gone + 1] = id
    elseif statuses then
      removed[#removed + 1] = KEYS[done_at + i]
    end
    if #value > 8192 then code, value = 'C', '' end
    ev[ev_n + 1] = code .. id
    ev[ev_n + 2] = value
    ev_n, ev_bytes = ev_n + 2, ev_bytes + #id + #value
  end
end
if #removed > 0 then redis.call('UNLINK', unpack(removed))
elseif done_n > 0 and not statuses and not completed then
  redis.call('UNLINK', unpack(KEYS, done_at + 1, done_at + done_n))
end
if #gone > 0 then redis.call('ZADD', completed, unpack(gone)) end

--@include pop
if hints > 0 then
  --@include coming
end
--@include events_in_line
return { statuses or false, claimed, coming or false }
