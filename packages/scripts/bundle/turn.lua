-- One turn of a busy worker: settles completed jobs and claims from wait, with the fewest keys.
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
local meta, wait, active, owners, events = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if #ARGV < 4 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 27 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local done_n, candidates_n, finished_n, claims_n, results_n, attempts_n, claim, begun, hints
do
  local b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16, b17, b18, b19, b20, b21, b22, b23, b24, b25, b26 = string.byte(ARGV[1], 1, 27)
  done_n = b0 * 100 + b1 * 10 + b2 - 5328
  candidates_n = b3 * 100 + b4 * 10 + b5 - 5328
  finished_n = b6 * 100 + b7 * 10 + b8 - 5328
  claims_n = b9 * 100 + b10 * 10 + b11 - 5328
  results_n = b12 * 100 + b13 * 10 + b14 - 5328
  attempts_n = b15 * 100 + b16 * 10 + b17 - 5328
  claim = b18 * 100 + b19 * 10 + b20 - 5328
  begun = b21 * 100 + b22 * 10 + b23 - 5328
  hints = b24 * 100 + b25 * 10 + b26 - 5328
end
if done_n > 500 then bad = bad or 'done' end
if candidates_n > 500 then bad = bad or 'candidates' end
if finished_n > 500 then bad = bad or 'finished' end
if claims_n > 500 then bad = bad or 'claims' end
if results_n > 500 then bad = bad or 'results' end
if attempts_n > 500 then bad = bad or 'attempts' end
if claim > 500 then bad = bad or 'claim' end
local claim_text = string.sub(ARGV[1], claim > 99 and 19 or claim > 9 and 20 or 21, 21)
if begun > 500 then bad = bad or 'begun' end
if hints > 500 then bad = bad or 'hints' end
if not string.find(ARGV[2] .. ' ' .. ARGV[3], '^%d+ %d+$') then
  for _, arg in ipairs({ { 2, 'now' }, { 3, 'deadline' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local now = ARGV[2] + 0
if now > 9007199254740991 then bad = bad or 'now' end
local now_text = ARGV[2]
if now < 10 ^ (#now_text - 1) and now_text ~= '0' then bad = bad or 'now' end
local deadline = ARGV[3] + 0
if deadline > 9007199254740991 then bad = bad or 'deadline' end
local deadline_text = ARGV[3]
if deadline < 10 ^ (#deadline_text - 1) and deadline_text ~= '0' then bad = bad or 'deadline' end
local token = ARGV[4]
local done_at, done_w = 6, 1
local done_id = #stamp - 4 + #'v2:job:' + 1
local candidates_at, candidates_w = done_at + done_n * done_w, 1
local candidates_id = #stamp - 4 + #'v2:job:' + 1
local finished_at, finished_w = candidates_at + candidates_n * candidates_w, 1
local claims_base, claims_w = 4, 2
local claims_token, claims_count = 1, 2
local results_base, results_w = claims_base + claims_n * claims_w, 1
local results_value = 1
local attempts_base, attempts_w = results_base + results_n * results_w, 1
local attempts_runs = 1
if not bad and #KEYS ~= finished_at + finished_n * finished_w then bad = 'keys' end
if not bad and #ARGV ~= attempts_base + attempts_n * attempts_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local number = {}
for row = claims_base, claims_base + (claims_n - 1) * claims_w, claims_w do
  local text = ARGV[row + 2]
  if not number[text] then
    if string.find(text, '^%d+$') and text + 0 <= 9007199254740991 then number[text] = text + 0
    else return redis.error_reply('EMQARG claims.count') end
  end
  if number[text] > 500 then bad = bad or 'claims.count' end
end
if bad then return redis.error_reply('EMQARG ' .. bad) end
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
-- How many entries the stream keeps, as a number and as text: a number is written out anew for each command.
local events_max, events_most = 10000, '10000'
if events_text then
  local most = tonumber(events_text)
  if most and most >= 0 and most <= 9007199254740991 and most % 1 == 0 then
    events_max, events_most = most, string.format('%.0f', most)
  end
end

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

-- A worker with one slot: one ends, one is claimed, without a table in between. Whatever is not as it nearly
-- always is goes on below; nothing is written before that.
if done_n == 1 and claims_n == 1 and claim == 1 and finished_n == 0 then
  local ended, id = sub(KEYS[done_at + 1], done_id), nil
  local owner = redis.call('HGET', owners, ended)
  if owner and match(owner, '^%d+:([^:!]+)!?$') == ARGV[claims_base + 1] then
    -- Freeing memory comes first, or maxmemory would refuse the whole call.
    redis.call('ZREM', active, ended)
    redis.call('HDEL', owners, ended)
    redis.call('UNLINK', KEYS[done_at + 1])
    local value, code = results_n > 0 and ARGV[results_base + 1] or '', 'c'
    if #value > 8192 then code, value = 'C', '' end
    local how = events_max < 1000 and '=' or '~'
    id = redis.pcall('RPOP', wait)
    local one, coming
    if type(id) == 'string' then
      local key, fields, text, last_name, last_opts, last_time, on_one_line, digits
      for c = candidates_at + 1, candidates_at + candidates_n do
        if sub(KEYS[c], candidates_id) == id then
          key = KEYS[c]
          break
        end
      end
      if key then
        -- Reads what a run needs of the hash at `key`: `fields`, by place; one it does not have is false, and left out at
        -- the end. Nil where there is no such hash: whoever begins the job is told so. A waiting job has four or five
        -- fields: to read what is there costs less than to ask for all there may be.
        -- With an `id`, a job of these four is told as one text in their place: each string of a reply costs both sides
        -- more than to put them together. Data comes last, since any text may stand there.
        local all = redis.pcall('HGETALL', key)
        local name, data, opts, timestamp, others = false, false, false, false, false
        if not all.err then
          for at = 1, #all, 2 do
            local field = all[at]
            if field == 'name' then name = all[at + 1]
            elseif field == 'data' then data = all[at + 1]
            elseif field == 'opts' then opts = all[at + 1]
            elseif field == 'timestamp' then timestamp = all[at + 1]
            else others = true
            end
          end
        end
        if name and id and data and timestamp and not others and #data <= 16384 then
          if name ~= last_name or opts ~= last_opts then
            last_name, last_opts = name, opts
            on_one_line = not string.find(name, '\n', 1, true) and not (opts and string.find(opts, '\n', 1, true))
          end
          if timestamp ~= last_time then last_time, digits = timestamp, string.find(timestamp, '^%d+$') end
          if on_one_line and digits then
            text = id .. '\n' .. (opts or '') .. '\n' .. name .. '\n' .. timestamp .. '\n' .. data
          end
        end
        if name and not text then
          fields = { name, data, opts, timestamp }
          if others then
            local place = { atm = 5, ats = 6, stc = 7, priority = 8, delay = 9, attemptsMade = 10, progress = 11,
              deid = 12, parentKey = 13, rjk = 14, stacktrace = 15 }
            for at = 5, 15 do fields[at] = false end
            for at = 1, #all, 2 do
              local known = place[all[at]]
              if known then fields[known] = all[at + 1] end
            end
            for last = 15, 5, -1 do
              if fields[last] then break end
              fields[last] = nil
            end
          end
        end
      end
      redis.call('ZADD', active, '-' .. deadline_text, id)
      redis.call('HSET', owners, id, now_text .. ':' .. token .. (key and begun > 0 and '!' or ''))
      if events_max > 0 then
        redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', code .. ended, value, 'a' .. id, '')
      end
      if text then one = { text }
      else
        one = { id, fields and #fields or 0 }
        for f = 1, one[2] do one[2 + f] = fields[f] end
      end
    elseif events_max > 0 then
      redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', code .. ended, value)
    end
    if hints > 0 then
      -- Names the next in line, in their order.
      local ahead = redis.pcall('LRANGE', wait, -hints, -1)
      if not ahead.err then
        coming = {}
        for i = 1, #ahead do coming[i] = ahead[#ahead + 1 - i] end
      end
    end
    return { false, one or {}, coming or false }
  end
end
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

-- Pops the next jobs and leases them: `claimed` tells them in a flat list.
-- A wrong type here is found after the first write, so it only ends the claim; step names it.
local taken, claimed, coming = claim > 0 and redis.pcall('RPOP', wait, claim_text), {}, nil
if taken and not taken.err then
  local mine = now_text .. ':' .. token
  local started, scores, own, candidate, prefix, n = mine .. '!', {}, {}, nil, '', 0
  if candidates_n > 0 then prefix = sub(KEYS[candidates_at + 1], 1, candidates_id - 1) end
  -- What jobs read one after the other have in common is looked at once.
  local last_name, last_opts, last_time, on_one_line, digits
  for i = 1, #taken do
    local id = taken[i]
    local key = i <= candidates_n and KEYS[candidates_at + i]
    if not key or key ~= prefix .. id then
      if not candidate then
        candidate = {}
        for c = 1, candidates_n do candidate[KEYS[candidates_at + c]] = KEYS[candidates_at + c] end
      end
      key = candidate[prefix .. id]
    end
    -- A part of a millisecond for the place in this claim: whoever puts it back keeps the order.
    scores[2 * i - 1] = i == 1 and '-' .. deadline_text or -(deadline + (i - 1) / 512)
    scores[2 * i] = id
    own[2 * i - 1] = id
    own[2 * i] = key and i <= begun and started or mine
    ev[ev_n + 1] = 'a' .. id
    ev[ev_n + 2] = ''
    ev_n, ev_bytes = ev_n + 2, ev_bytes + #id
    local fields, text
    if key then
      -- Reads what a run needs of the hash at `key`: `fields`, by place; one it does not have is false, and left out at
      -- the end. Nil where there is no such hash: whoever begins the job is told so. A waiting job has four or five
      -- fields: to read what is there costs less than to ask for all there may be.
      -- With an `id`, a job of these four is told as one text in their place: each string of a reply costs both sides
      -- more than to put them together. Data comes last, since any text may stand there.
      local all = redis.pcall('HGETALL', key)
      local name, data, opts, timestamp, others = false, false, false, false, false
      if not all.err then
        for at = 1, #all, 2 do
          local field = all[at]
          if field == 'name' then name = all[at + 1]
          elseif field == 'data' then data = all[at + 1]
          elseif field == 'opts' then opts = all[at + 1]
          elseif field == 'timestamp' then timestamp = all[at + 1]
          else others = true
          end
        end
      end
      if name and id and data and timestamp and not others and #data <= 16384 then
        if name ~= last_name or opts ~= last_opts then
          last_name, last_opts = name, opts
          on_one_line = not string.find(name, '\n', 1, true) and not (opts and string.find(opts, '\n', 1, true))
        end
        if timestamp ~= last_time then last_time, digits = timestamp, string.find(timestamp, '^%d+$') end
        if on_one_line and digits then
          text = id .. '\n' .. (opts or '') .. '\n' .. name .. '\n' .. timestamp .. '\n' .. data
        end
      end
      if name and not text then
        fields = { name, data, opts, timestamp }
        if others then
          local place = { atm = 5, ats = 6, stc = 7, priority = 8, delay = 9, attemptsMade = 10, progress = 11,
            deid = 12, parentKey = 13, rjk = 14, stacktrace = 15 }
          for at = 5, 15 do fields[at] = false end
          for at = 1, #all, 2 do
            local known = place[all[at]]
            if known then fields[known] = all[at + 1] end
          end
          for last = 15, 5, -1 do
            if fields[last] then break end
            fields[last] = nil
          end
        end
      end
    end
    -- Adds one job to the flat list `claimed` of `n` entries: its one text, or its id, number of fields and fields.
    if text then
      n = n + 1
      claimed[n] = text
    else
      local many = fields and #fields or 0
      claimed[n + 1], claimed[n + 2] = id, many
      for f = 1, many do claimed[n + 2 + f] = fields[f] end
      n = n + 2 + many
    end
  end
  local count = #taken
  -- Writes `count` new leases. A sorted set or hash of up to 128 members is a packed list, scanned for each member:
  -- for a batch the other encoding is cheaper, and one long member brings it, until the key is empty. No id has a
  -- control character.
  if count < 8 then
    redis.call('ZADD', active, unpack(scores))
    redis.call('HSET', owners, unpack(own))
  else
    local long, n = string.rep('\1', 65), 2 * count
    scores[n + 1], scores[n + 2], own[n + 1], own[n + 2] = scores[1], scores[2], own[1], own[2]
    scores[1], scores[2], own[1], own[2] = 0, long, long, ''
    redis.call('ZADD', active, unpack(scores))
    redis.call('HSET', owners, unpack(own))
    redis.call('ZREM', active, long)
    redis.call('HDEL', owners, long)
  end
end
if hints > 0 then
  -- Names the next in line, in their order.
  local ahead = redis.pcall('LRANGE', wait, -hints, -1)
  if not ahead.err then
    coming = {}
    for i = 1, #ahead do coming[i] = ahead[#ahead + 1 - i] end
  end
end
-- Writes the events of a call as `events` does, without its closures: mostly they are one entry.
if events_max > 0 then
  local how, from = events_max < 1000 and '=' or '~', 1
  if ev_n > 200 or ev_bytes > 65536 then
    local bytes = 0
    for n = 1, ev_n, 2 do
      local size = #ev[n] - 1 + #ev[n + 1]
      if n - from >= 200 or bytes + size > 65536 then
        redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, n - 1))
        from, bytes = n, 0
      end
      bytes = bytes + size
    end
  end
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  if ev_n > 0 then redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, ev_n)) end
end
return { statuses or false, claimed, coming or false }
