-- Ends the leases of runs that completed. `statuses` stays nil while all is well, as nearly always.
local ids, owner = {}, nil
if done_n > 0 then
  ids = { unpack(KEYS, done_at + 1, done_at + done_n) }
  for i = 1, done_n do ids[i] = sub(ids[i], done_id) end
  owner = redis.call('HMGET', owners, unpack(ids))
else
  redis.call('HLEN', owners)
end
if completed then redis.call('ZCARD', completed) end
local statuses, begun_at, settled = nil, {}, ids
local last, held, at, whose
local row, left = claims_base, 0
for i = 1, done_n do
  while left == 0 do whose, left, row = ARGV[row + 1], number[ARGV[row + 2]], row + 2 end
  left = left - 1
  -- Jobs of one claim have one owner's text, as `lease_of` reads it.
  if owner[i] ~= last then
    last = owner[i]
    held = last and match(last, '^%d+:([^:!]+)!?$')
    at = completed and held and match(last, '^%d+')
  end
  local why
  if not held then why = 'EMQSTALE no lease'
  elseif held ~= whose then why = 'EMQSTALE the lease is held by another run'
  elseif completed and redis.pcall('HEXISTS', KEYS[done_at + i], 'name') ~= 1 then
    why = 'EMQMISSING the job is gone'
  end
  if completed then begun_at[i] = at end
  if why and not statuses then
    statuses, settled = {}, {}
    for n = 1, i - 1 do statuses[n], settled[n] = 'ok', ids[n] end
  end
  if statuses then
    statuses[i] = why or 'ok'
    if held == whose then settled[#settled + 1] = ids[i] end
  end
end

-- Freeing memory comes first, or maxmemory would refuse the whole call.
local ended = 0
if #settled > 0 then
  redis.call('ZREM', active, unpack(settled))
  ended = redis.call('HDEL', owners, unpack(settled))
else
  redis.call('ZCARD', active)
end
if ended < #settled then
  -- One of them is named twice: its second run holds nothing.
  local met = {}
  statuses = statuses or {}
  for i = 1, done_n do
    local status = statuses[i] or 'ok'
    if status == 'ok' or status == 'EMQMISSING the job is gone' then
      if met[ids[i]] then status = 'EMQSTALE no lease' end
      met[ids[i]] = true
    end
    statuses[i] = status
  end
end
