-- Pops the next jobs and leases them. It writes queue-level keys only; a job's hash is read only when
-- the caller declared it as a candidate.
local reason, due_at = '', 0
local claimed, hints_out = {}, {}

local function take()
  local ids = {}
  for i = 1, #ending do ids[i] = ending[i] end
  if depth > 0 then redis.call('RPOP', wait, depth) end
  -- Whoever stood ahead of one that must end keeps its place.
  if depth > #ending then
    redis.call('RPUSH', wait, unpack(preview, #preview + 1 - depth + #ending))
  end
  for i = 1, take_wait do ids[#ids + 1] = preview[#preview + 1 - i] end
  for i = 1, take_ranked do ids[#ids + 1] = ranked[i] end
  if take_wait > 0 then redis.call('RPOP', wait, take_wait) end
  if take_ranked > 0 then redis.call('ZPOPMIN', prioritized, take_ranked) end
  return ids
end

local function lease(ids)
  local scores, owner = {}, now_text .. ':' .. token
  local own, started = {}, owner .. '!'
  for i = 1, #ids do
    -- A part of a millisecond for the place in this claim: whoever puts it back keeps the order.
    scores[2 * i - 1] = i == 1 and '-' .. deadline_text or -(deadline + (i - 1) / 512)
    scores[2 * i] = ids[i]
    own[2 * i - 1] = ids[i]
    own[2 * i] = candidate[ids[i]] and i <= begun and started or owner
    emit('a', ids[i], '')
  end
  local count = #ids
  --@include write_leases
end

local function read_claimed(ids)
  local why = {}
  if doomed > 0 then why = redis.call('HMGET', verdicts, unpack(ids)) end
  --@include read_once
  for i = 1, #ids do
    local id, key, fields, text = nil, candidate[ids[i]], nil, nil
    if key then
      --@include run_fields
    end
    claimed[i] = { ids[i], why[i] or false, fields or {} }
  end
end
