-- Writes the events of a call as `events` does, without its closures: mostly they are one entry.
if events_max > 0 then
  local how, from = events_max < 1000 and '=' or '~', 1
  if ev_n > 200 or ev_bytes > 65536 then
    local bytes = 0
    for n = 1, ev_n, 2 do
      local size = #ev[n] - 1 + #ev[n + 1]
      if n - from >= 200 or bytes + size > 65536 then
        redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, n - 1))
        from, bytes = n, 0
      end
      bytes = bytes + size
    end
  end
  -- pcall: after the first write nothing may raise, and a stream can only fail by its own last id.
  if ev_n > 0 then redis.pcall('XADD', events, 'MAXLEN', how, events_most, '*', unpack(ev, from, ev_n)) end
end
