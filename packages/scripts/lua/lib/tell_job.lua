-- Adds one job to the flat list `claimed` of `n` entries: its one text, or its id, number of fields and fields.
if text then
  n = n + 1
  claimed[n] = text
else
  local many = fields and #fields or 0
  claimed[n + 1], claimed[n + 2] = id, many
  for f = 1, many do claimed[n + 2 + f] = fields[f] end
  n = n + 2 + many
end
