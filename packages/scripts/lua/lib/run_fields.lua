-- What a run needs of its job's hash. A field the hash does not have is a nil in the reply.
local function run_fields(key)
  return redis.pcall('HMGET', key, 'name', 'data', 'opts', 'timestamp', 'atm', 'ats', 'stc',
    'priority', 'delay', 'attemptsMade', 'progress', 'deid', 'parentKey', 'rjk', 'stacktrace')
end
