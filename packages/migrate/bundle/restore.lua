-- Renames the vault back and takes tombstone and stamp away, in one step.
local unpack = unpack or table.unpack
local stamp, meta = KEYS[1], KEYS[2]
if #ARGV < 5 then return redis.error_reply('EMQARG arguments') end
local bad
if #ARGV[1] ~= 6 or not string.find(ARGV[1], '^%d+$') then
  return redis.error_reply('EMQARG numbers')
end
local live_n, vault_n
do
  local b0, b1, b2, b3, b4, b5 = string.byte(ARGV[1], 1, 6)
  live_n = b0 * 100 + b1 * 10 + b2 - 5328
  vault_n = b3 * 100 + b4 * 10 + b5 - 5328
end
if live_n > 64 then bad = bad or 'live' end
if vault_n > 64 then bad = bad or 'vault' end
if not string.find(ARGV[3] .. ' ' .. ARGV[4], '^%d+ %d+$') then
  for _, arg in ipairs({ { 3, 'holders' }, { 4, 'overwrite' } }) do
    if not string.find(ARGV[arg[1]], '^%d+$') then bad = bad or arg[2] end
  end
  return redis.error_reply('EMQARG ' .. bad)
end
local own = ARGV[2]
local holders = ARGV[3] + 0
if holders > 9007199254740991 then bad = bad or 'holders' end
local overwrite = ARGV[4] + 0
if overwrite > 9007199254740991 then bad = bad or 'overwrite' end
local source = ARGV[5]
local live_at, live_w = 2, 1
local vault_at, vault_w = live_at + live_n * live_w, 1
if not bad and #KEYS ~= vault_at + vault_n * vault_w then bad = 'keys' end
if not bad and #ARGV ~= 5 then bad = 'arguments' end
if bad then return redis.error_reply('EMQARG ' .. bad) end
-- live[1] is v1's meta; the first `holders` keys hold jobs or their schedule.
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
-- A tool that was paused and overtaken stops here: the stamp must be this run's, in this phase.
if not string.find(own, '^echomq:migrating:[%w-]+:[a-z-]+$') then
  return redis.error_reply('EMQARG own')
end
local found_version = redis.pcall('GET', stamp)
if found_version ~= own then return refused(found_version) end
if not string.find(own, ':rollback$') then return redis.error_reply('EMQARG own') end
if live_n ~= vault_n or live_n < 1 or holders > live_n then return redis.error_reply('EMQARG live') end
local v1_meta = KEYS[live_at + 1]
local here = v1_meta == stamp
if v1_meta ~= source .. 'meta' then return redis.error_reply('EMQARG source') end
local named = redis.call('HGET', meta, 'source')
if named and named ~= source then return other_source(named) end
local kept = {}
for i = 1, live_n do
  kept[i] = redis.call('EXISTS', KEYS[vault_at + i]) == 1
  if i > 1 and i <= holders and kept[i] and overwrite == 0
    and redis.call('EXISTS', KEYS[live_at + i]) == 1 then
    return redis.error_reply('EMQSTATE intruder ' .. KEYS[live_at + i])
  end
end
if not named then
  -- v2:meta was removed: the tombstone, or the vault where none stands, says whose run it is.
  local stands = redis.pcall('GET', v1_meta)
  local run = string.match(own, '^echomq:migrating:([%w-]+):')
  local mine = type(stands) == 'string' and string.sub(stands, 1, 14 + #run) == 'echomq:moved:' .. run .. ':'
  local any = false
  for i = 1, live_n do any = any or kept[i] end
  if not mine and not (any and (here or not stands)) then return other_source(named) end
end
redis.call('UNLINK', meta)
local back = 0
for i = 2, live_n do
  if kept[i] then
    redis.call('RENAME', KEYS[vault_at + i], KEYS[live_at + i])
    back = back + 1
  end
end
if not here then redis.call('UNLINK', v1_meta) end
redis.call('UNLINK', stamp)
if kept[1] then
  redis.call('RENAME', KEYS[vault_at + 1], v1_meta)
  back = back + 1
end
return back
