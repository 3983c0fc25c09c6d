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
