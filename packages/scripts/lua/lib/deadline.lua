-- The score of a lease is minus its deadline, with a part of a millisecond for the place in its claim.
-- LONGEST is the longest lease any option allows, in ms.
local LONGEST = 86400000
local function deadline_of(score)
  local value = -tonumber(score)
  local whole = math.floor(value)
  local place = value - whole
  return whole, place == place and place or 0
end
