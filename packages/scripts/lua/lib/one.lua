-- A worker with one slot: one ends, one is claimed, without a table in between. Whatever is not as it nearly
-- always is goes on below; nothing is written before that.
if done_n == 1 and claims_n == 1 and claim == 1 and finished_n == 0 then
  local ended, id = sub(KEYS[done_at + 1], done_id), nil
  local owner = redis.call('HGET', owners, ended)
  if owner and match(owner, '^%d+:([^:!]+)!?$') == ARGV[claims_base + 1] then
    -- Freeing memory comes first, or maxmemory would refuse the whole call.
    redis.call('ZREM', active, ended)
    redis.call('HDEL', owners, ended)
    redis.call('UNLINK', KEYS[done_at + 1])
    local value, code = results_n > 0 and ARGV[results_base + 1] or '', 'c'
    if #value > 8192 then code, value = 'C', '' end
    local how = events_max < 1000 and '=' or '~'
    id = redis.pcall('RPOP', wait)
    local one, coming
    if type(id) == 'string' then
      local key, fields, text, last_name, last_opts, last_time, on_one_line, digits
      for c = candidates_at + 1, candidates_at + candidates_n do
        if sub(KEYS[c], candidates_id) == id then
          key = KEYS[c]
          break
        end
      end
      if key then
        --@include run_fields
      end
      redis.call('ZADD', active, '-' .. deadline_text, id)
      redis.call('HSET', owners, id, now_text .. ':' .. token .. (key and begun > 0 and '!' or ''))
      if events_max > 0 then
        redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', code .. ended, value, 'a' .. id, '')
      end
      if text then one = { text }
      else
        one = { id, fields and #fields or 0 }
        for f = 1, one[2] do one[2 + f] = fields[f] end
      end
    elseif events_max > 0 then
      redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', code .. ended, value)
    end
    if hints > 0 then
      --@include coming
    end
    return { false, one or {}, coming or false }
  end
end
