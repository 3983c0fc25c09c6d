-- Puts back a stamp, and a tombstone, that somebody deleted or wrote over.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 6 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local asides_n, tombs_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  asides_n = b0 * 100 + b1 * 10 + b2 - 5328
  tombs_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if asides_n > 1 then bad = bad or 'asides' end
if tombs_n > 1 then bad = bad or 'tombs' end
local wanted = ARGV[2]
local version = ARGV[3]
local migrated = ARGV[4]
local tombstone = ARGV[5]
local source = ARGV[6]
local asides_at, asides_w = 2, 1
local tombs_at, tombs_w = asides_at + asides_n * asides_w, 1
if not bad and #KEYS ~= tombs_at + tombs_n * tombs_w then bad = 'keys' end
if not bad and #ARGV ~= 6 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- The refusal of a stamp that is not the one the call needs.
local function refused(found)
  if type(found) == 'table' then found = 'wrongtype' elseif not found then found = 'none' end
  if found == '' then found = 'empty' end
  found = string.gsub(found, '%c', ' ')
  return redis.error_reply('EMQFENCE ' .. string.sub(found, 1, 128))
end
-- The refusal of a call that was made for another v1 queue than the run's.
local function other_source(named)
  local shown = string.gsub(named or 'none', '%c', ' ')
  return redis.error_reply('EMQSTATE source ' .. string.sub(shown, 1, 256))
end
if not string.find(wanted, '^echomq:2%.%d+%.%d+$')
  and not string.find(wanted, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG wanted')
end
if asides_n ~= 1 then return redis.error_reply('EMQARG asides') end
if tombs_n > 1 or (tombs_n == 1) ~= (tombstone ~= '') then
  return redis.error_reply('EMQARG tombstone')
end
local found = redis.pcall('GET', stamp)
if type(found) == 'string' and found ~= wanted then return refused(found) end
if type(found) == 'table' and type(redis.pcall('HLEN', stamp)) == 'table' then return refused(found) end
local known = redis.call('HMGET', meta, 'version', 'migrated')
if (known[1] or '') ~= version or (known[2] or '') ~= migrated then
  return redis.error_reply('EMQRETRY v2:meta changed')
end
if not (known[1] or known[2]) then
  -- No v2 key says whose run it is; its tombstone does, and only the way back is open then.
  local stands = tombs_n == 1 and redis.pcall('GET', KEYS[tombs_at + 1])
  local run = string.match(wanted, '^echomq:migrating:([%w-]+):rollback$')
  local mine = run and 'echomq:moved:' .. run .. ':moving:'
  if not mine or type(stands) ~= 'string' or string.sub(stands, 1, #mine) ~= mine then
    return redis.error_reply('EMQRETRY v2:meta changed')
  end
end
if type(found) == 'table' and redis.call('EXISTS', KEYS[asides_at + 1]) == 1 then
  return redis.error_reply('EMQSTATE an earlier intruder is still set aside')
end
local named = redis.call('HGET', meta, 'source')
if named and named ~= source then return other_source(named) end
for i = 1, tombs_n do
  if KEYS[tombs_at + i] ~= source .. 'meta' then return redis.error_reply('EMQARG tombs') end
end
local mended = 0
if type(found) == 'table' then redis.call('RENAME', stamp, KEYS[asides_at + 1]) end
if found ~= wanted then
  redis.call('SET', stamp, wanted)
  mended = 1
end
if tombs_n == 1 and redis.call('EXISTS', KEYS[tombs_at + 1]) == 0 then
  redis.call('SET', KEYS[tombs_at + 1], tombstone)
  mended = mended + 2
end
return mended
