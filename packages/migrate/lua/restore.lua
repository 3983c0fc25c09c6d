-- Renames the vault back and takes tombstone and stamp away, in one step.
-- live[1] is v1's meta; the first `holders` keys hold jobs or their schedule.
--@include refuse
--@include other_source
--@include run_fence
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
