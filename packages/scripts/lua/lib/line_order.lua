-- Sorts leases so that the reverse is the order they had in line: by the time of the claim, by the claim,
-- by the place in it. Renewals move deadlines and keep the rest.
local function line_order(rows)
  local key = {}
  for _, row in ipairs(rows) do
    local token, at = lease_of(row[3])
    local whole, place = deadline_of(row[2])
    key[row] = { tonumber(at) or 0, #(token or ''), token or '', place, whole, row[1] }
  end
  table.sort(rows, function(one, other)
    local a, b = key[one], key[other]
    for n = 1, 6 do
      if a[n] ~= b[n] then return a[n] > b[n] end
    end
    return false
  end)
  return rows
end
