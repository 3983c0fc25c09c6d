-- Counts the jobs in line of each priority named; 0 counts those without one.
local out = {}
local plain = redis.call('LLEN', wait)
redis.call('ZCARD', prioritized)
for i = 1, ranks_n do
  local priority = tonumber(ARGV[ranks(i) + ranks_priority])
  out[i] = plain
  if priority > 0 then
    local base = priority * 4294967296
    out[i] = redis.call('ZCOUNT', prioritized, string.format('%.0f', base),
      string.format('(%.0f', base + 4294967296))
  end
end
return out
