-- Tells events of the caller's own, in one stream entry.
local opts = redis.call('HMGET', meta, 'events.max')
local events_text = opts[1]
--@include events
redis.call('XLEN', events)
local pairs_out, bytes = {}, 0
for i = 1, messages_n do
  local row = messages(i)
  local name, payload = ARGV[row + messages_name], ARGV[row + messages_payload]
  if name == '' then return redis.error_reply('EMQARG messages.name') end
  bytes = bytes + #name + #payload
  pairs_out[#pairs_out + 1] = 'e' .. name
  pairs_out[#pairs_out + 1] = payload
end
if bytes > 65536 then return redis.error_reply('EMQARG messages.payload') end
if messages_n == 0 or events_max == 0 then return '' end
local how = events_max < 1000 and '=' or '~'
return redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(pairs_out))
