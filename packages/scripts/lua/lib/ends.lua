-- Verifies the lease of each run that ends and sorts the runs by what becomes of the job.
local statuses, settled, ended, over, met, runs = {}, {}, {}, {}, {}, {}
for i = 1, jobs_n do
  local id, row = ids[i], items(i)
  local holds, at = lease_of(owner[i])
  if not holds or met[id] then
    statuses[i] = 'EMQSTALE no lease'
  elseif holds ~= ARGV[row + items_token] then
    statuses[i] = 'EMQSTALE the lease is held by another run'
  else
    met[id] = true
    settled[#settled + 1] = id
    local how = ARGV[row + items_how]
    if redis.pcall('HEXISTS', KEYS[jobs_at + i], 'name') ~= 1 then
      statuses[i], how = 'EMQMISSING the job is gone', 'gone'
    else
      statuses[i] = 'ok'
      runs[#runs + 1] = { i, KEYS[jobs_at + i], row, at, how }
    end
    if how == 'completed' or how == 'failed' or how == 'gone' then
      ended[#ended + 1] = id
      over[#over + 1] = i
    end
  end
end
