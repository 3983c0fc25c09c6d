-- Verifies the lease of each completed run and sorts the runs by what becomes of the job.
local statuses, settled, gone, kept, removed, dead = {}, {}, {}, {}, {}, {}
local met = {}
for i = 1, done_n do
  local id, row, key = ids[i], results(i), KEYS[done_at + i]
  local held, at = lease_of(owner[i])
  if not held or met[id] then
    statuses[i] = 'EMQSTALE no lease'
  elseif held ~= ARGV[row + results_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
  else
    settled[#settled + 1] = id
    statuses[i] = 'ok'
    if redis.pcall('HEXISTS', key, 'name') ~= 1 then
      statuses[i] = 'EMQMISSING the job is gone'
    elseif keepCount > 0 then
      kept[#kept + 1] = { i, key, row, at }
    elseif extra[i] == 1 then
      dead[#dead + 1] = now
      dead[#dead + 1] = id
      to_bury[#to_bury + 1] = id
    else
      removed[#removed + 1] = key
    end
    met[id] = true
  end
end
