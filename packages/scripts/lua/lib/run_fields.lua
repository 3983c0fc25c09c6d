-- What a run needs of its job's hash. A field the hash does not have is false, and left out at the end.
local function run_fields(key)
  local fields = redis.pcall('HMGET', key, 'name', 'data', 'opts', 'timestamp', 'atm', 'ats', 'stc',
    'priority', 'delay', 'attemptsMade', 'progress', 'deid', 'parentKey', 'rjk', 'stacktrace')
  local last = #fields
  while last > 0 and not fields[last] do
    fields[last] = nil
    last = last - 1
  end
  return fields
end
