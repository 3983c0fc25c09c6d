-- What a run needs of its job's hash, by place; a field it does not have is false, and left out at the end. A
-- waiting job has four or five fields: to read what is there costs less than to ask for all there may be.
local place

local function run_fields(key)
  local all = redis.pcall('HGETALL', key)
  if all.err then return all end
  local name, data, opts, timestamp, others = false, false, false, false, false
  for at = 1, #all, 2 do
    local field = all[at]
    if field == 'name' then name = all[at + 1]
    elseif field == 'data' then data = all[at + 1]
    elseif field == 'opts' then opts = all[at + 1]
    elseif field == 'timestamp' then timestamp = all[at + 1]
    else others = true
    end
  end
  local fields = { name, data, opts, timestamp }
  if not others then return fields end
  place = place or { atm = 5, ats = 6, stc = 7, priority = 8, delay = 9, attemptsMade = 10, progress = 11,
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
  return fields
end
