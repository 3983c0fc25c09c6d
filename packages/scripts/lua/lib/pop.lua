-- Pops the next jobs and leases them: `claimed` tells them in a flat list.
-- A wrong type here is found after the first write, so it only ends the claim; step names it.
local taken, claimed, coming = claim > 0 and redis.pcall('RPOP', wait, claim_text), {}, nil
if taken and not taken.err then
  local mine = now_text .. ':' .. token
  local started, scores, own, candidate, prefix, n = mine .. '!', {}, {}, nil, '', 0
  if candidates_n > 0 then prefix = sub(KEYS[candidates_at + 1], 1, candidates_id - 1) end
  --@include read_once
  for i = 1, #taken do
    local id = taken[i]
    local key = i <= candidates_n and KEYS[candidates_at + i]
    if not key or key ~= prefix .. id then
      if not candidate then
        candidate = {}
        for c = 1, candidates_n do candidate[KEYS[candidates_at + c]] = KEYS[candidates_at + c] end
      end
      key = candidate[prefix .. id]
    end
    -- A part of a millisecond for the place in this claim: whoever puts it back keeps the order.
    scores[2 * i - 1] = i == 1 and '-' .. deadline_text or -(deadline + (i - 1) / 512)
    scores[2 * i] = id
    own[2 * i - 1] = id
    own[2 * i] = key and i <= begun and started or mine
    ev[ev_n + 1] = 'a' .. id
    ev[ev_n + 2] = ''
    ev_n, ev_bytes = ev_n + 2, ev_bytes + #id
    local fields, text
    if key then
      --@include run_fields
    end
    --@include tell_job
  end
  local count = #taken
  --@include write_leases
end
