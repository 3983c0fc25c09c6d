-- Jobs that must end run nothing: no limit counts them, and no limit keeps them back. Those that stand
-- near the head of wait, `depth` ids deep, are taken out of `preview` and claimed first.
local depth = 0
if doomed > 0 and #preview > 0 then
  local why, rest = redis.call('HMGET', verdicts, unpack(preview)), {}
  for i = #preview, 1, -1 do
    if why[i] and #ending < claim then
      ending[#ending + 1] = preview[i]
      depth = #preview + 1 - i
      preview[i] = false
    end
  end
  for i = 1, #preview do
    if preview[i] then rest[#rest + 1] = preview[i] end
  end
  preview, room = rest, math.min(room, claim - #ending)
end
