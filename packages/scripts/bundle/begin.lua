-- Starts claimed jobs: verifies the lease and returns their fields, in a flat list.
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
local meta, active, owners, verdicts = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if #ARGV < 2 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local jobs_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  jobs_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if jobs_n > 500 then bad = bad or 'jobs' end
local token = ARGV[2]
local jobs_at, jobs_w = 5, 1
local jobs_id = #stamp - 4 + #'v2:job:' + 1
if not bad and #KEYS ~= jobs_at + jobs_n * jobs_w then bad = 'keys' end
if not bad and #ARGV ~= 2 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- An owner is `<claimedAt>:<token>`, with `!` at the end once the job was begun.
local function lease_of(owner)
  if not owner then return nil end
  local at, token, begun = string.match(owner, '^(%d+):([^:!]+)(!?)$')
  return token, at, begun == '!'
end
if jobs_n == 0 then return { false, false, {} } end
local ids = {}
for i = 1, jobs_n do ids[i] = string.sub(KEYS[jobs_at + i], jobs_id) end
local owner = redis.call('HMGET', owners, unpack(ids))
local why = redis.call('HLEN', verdicts) > 0 and redis.call('HMGET', verdicts, unpack(ids))
redis.call('ZCARD', active)

local claimed, n, begun, lost, statuses = {}, 0, {}, {}, nil
local last, held, started
-- What jobs read one after the other have in common is looked at once.
local last_name, last_opts, last_time, on_one_line, digits
for i = 1, jobs_n do
  -- Jobs of one claim have one owner's text.
  if owner[i] ~= last then
    last = owner[i]
    local at, marked
    held, at, marked = lease_of(last)
    started = held and (marked and last or last .. '!')
  end
  local id, key, fields, text, status = ids[i], KEYS[jobs_at + i], nil, nil, nil
  if held and held == token then
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
    if text or fields then
      begun[#begun + 1] = id
      begun[#begun + 1] = started
    else
      status = 'missing'
      lost[#lost + 1] = id
    end
  else
    status = 'lost'
  end
  if status and not statuses then
    statuses = {}
    for before = 1, i - 1 do statuses[before] = 'ok' end
  end
  if statuses then statuses[i] = status or 'ok' end
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
if #lost > 0 then
  redis.call('ZREM', active, unpack(lost))
  redis.call('HDEL', owners, unpack(lost))
  redis.call('HDEL', verdicts, unpack(lost))
end
if #begun > 0 then
  -- The first write must be one that maxmemory lets pass; what comes after one passes too.
  redis.call('HDEL', owners, begun[1])
  redis.call('HSET', owners, unpack(begun))
end
return { statuses or false, why or false, claimed }
