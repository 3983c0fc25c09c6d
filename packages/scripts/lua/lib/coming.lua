-- Names the next in line, in their order.
local ahead = redis.pcall('LRANGE', wait, -hints, -1)
if not ahead.err then
  coming = {}
  for i = 1, #ahead do coming[i] = ahead[#ahead + 1 - i] end
end
