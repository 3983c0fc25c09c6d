-- Whether a job may be written to: it stands, and a run that names its token still holds the lease.
local function refused(key, id)
  if redis.pcall('HEXISTS', key, 'name') ~= 1 or redis.call('ZSCORE', trash, id) then
    return 'EMQMISSING no such job'
  end
  if token == '' then return nil end
  local held = lease_of(redis.call('HGET', owners, id))
  if held ~= token then return 'EMQSTALE the run holds no lease' end
end
