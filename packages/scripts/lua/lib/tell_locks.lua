-- The event names the job that stands; its payload is the deduplication id and the job that does not.
if locks_n > 0 then
  for i = 1, jobs_n do
    local lock = lock_of[i]
    if lock then
      local stands, word = lock.record.job, string.match(status[i], '^%l+')
      local other = ids[i]
      if undone[i] and word ~= 'held' then
        status[i], word = 'deduplicated ' .. stands, 'deduplicated'
      elseif word == 'replaced' then
        stands, other = ids[i], lock.instead
      end
      if word == 'replaced' or word == 'deduplicated' or word == 'held' then
        emit('u', stands, lock.record.id .. '\n' .. other)
      end
    end
  end
end
