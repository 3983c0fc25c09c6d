-- Writes the journal of a run: its phase only goes on, and a run that rests is never woken up.
local unpack = unpack or table.unpack
local migration = KEYS[1]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 3 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local rows_n
do
  local b0, b1, b2 = string.byte(ARGV[1], 1, 3)
  rows_n = b0 * 100 + b1 * 10 + b2 - 5328
end
if rows_n > 64 then bad = bad or 'rows' end
local run = ARGV[2]
local phase = ARGV[3]
local step = ARGV[4]
local over = ARGV[5]
local rows_base, rows_w = 5, 2
local function rows(row) return rows_base + (row - 1) * rows_w end
local rows_field, rows_value = 1, 2
if not bad and #KEYS ~= 1 then bad = 'keys' end
if not bad and #ARGV ~= rows_base + rows_n * rows_w then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
local RANK = { discover = 0, plan = 1, drain = 2, fence = 3, copy = 4, verify = 5, verified = 6,
  committed = 7, rollback = 8, ['rolled-back'] = 9, remove = 10 }
if not string.find(run, '^[%w-]+$') then return redis.error_reply('EMQARG run') end
if not RANK[phase] then return redis.error_reply('EMQARG phase') end
if step ~= 'write' and step ~= 'forget' then return redis.error_reply('EMQARG step') end
if over ~= '' and not string.find(over, '^[%w-]+ [%a-]*$') then return redis.error_reply('EMQARG over') end
local fields = { 'run', run }
for i = 1, rows_n do
  local field = ARGV[rows(i) + rows_field]
  if field == 'run' or field == 'phase' then return redis.error_reply('EMQARG rows.field') end
  fields[#fields + 1] = field
  fields[#fields + 1] = ARGV[rows(i) + rows_value]
end
local known = redis.call('HMGET', migration, 'run', 'phase')
local stands = string.sub(known[1] or '', 1, 64) .. ' ' .. string.sub(known[2] or '', 1, 32)
local rank = known[2] and RANK[known[2]]
local rests = rank and (rank < 3 or rank == 7 or rank == 9)
if step == 'forget' then
  if known[1] and known[1] ~= run and not rests then
    return redis.error_reply('EMQFENCE run ' .. stands)
  end
  return redis.call('UNLINK', migration)
end
-- A finished run whose id is used again begins a new report, as another run does.
local other = known[1] and (known[1] ~= run or (rests and rank > 6 and RANK[phase] < 3))
-- Who holds the stamp has read that the journal's run does not, and it has written nothing since.
local taken = over ~= '' and stands == over
if other and not taken and (not rests or (RANK[phase] > 2 and phase ~= 'remove')) then
  return redis.error_reply('EMQFENCE run ' .. stands)
end
if not other and rank and rank > 6 and RANK[phase] < rank then
  return redis.error_reply('EMQSTATE ' .. known[2])
end
-- A removing write comes first: the report of a rollback must pass although maxmemory is reached.
if other then redis.call('UNLINK', migration) else redis.call('HDEL', migration, 'updatedAt') end
if other or not rank or RANK[phase] > rank then
  fields[#fields + 1] = 'phase'
  fields[#fields + 1] = phase
end
redis.call('HSET', migration, unpack(fields))
return 1
