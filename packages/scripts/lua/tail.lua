-- Reads events behind a place in the stream, with the first and the last place there is, in one step.
local function place(id)
  local ms, seq = string.match(id, '^(%d+)%-(%d+)$')
  if not ms or #ms > 16 or #seq > 16 then return nil end
  return tonumber(ms), tonumber(seq)
end
if not place(after) then return redis.error_reply('EMQARG after') end
local first = redis.call('XRANGE', events, '-', '+', 'COUNT', 1)[1]
if not first then return { {}, '', '' } end
local top = redis.call('XREVRANGE', events, '+', '-', 'COUNT', 1)[1]
local entries = {}
if count > 0 then
  local from = inclusive == 1 and after or '(' .. after
  entries = redis.call('XRANGE', events, from, '+', 'COUNT', count)
end
return { entries, first[1], top[1] }
