-- The priority sequence, read before the first write so that a broken counter refuses the whole call.
-- It starts in the middle of its 2^32 places, so that there are as many ahead of the first job.
local seq = tonumber(redis.call('GET', pc) or '2147483648')
if not seq or seq < 0 or seq >= 9007199254740000 or seq % 1 ~= 0 then
  return redis.error_reply('EMQSTATE the priority sequence is not a whole number')
end
local seq_was = seq

local function save_sequence()
  if seq ~= seq_was then redis.call('SET', pc, string.format('%.0f', seq % 4294967296)) end
end
