-- The rate of the queue, or of its workers where theirs is lower: a counter in a fixed window that
-- begins with its first job. A counter without an end counts for nothing and is written anew. A limit
-- of 0 is none but holds the queue while a counter set by hand stands.
local function whole(text)
  local value = tonumber(text)
  if value and value >= 0 and value <= 9007199254740991 then return math.floor(value) end
end

local rate_max, rate_ms = whole(opts[5]), whole(opts[6]) or 0
if rate_max and rate_ms == 0 then rate_max = 0 end
if rateMax > 0 and rateMs > 0 and not (rate_max and rate_max > 0 and rate_max <= rateMax) then
  rate_max, rate_ms = rateMax, rateMs
end
local places, used, window, window_end = 9007199254740991, 0, 0, 0
if rate_max then
  local count = whole(redis.call('GET', limiter) or '0') or 0
  window = math.max(redis.call('PTTL', limiter), 0)
  if window > 0 then used = count end
  if rate_max > 0 then places = math.max(rate_max - used, 0)
  elseif window > 0 and used == 9007199254740991 then places = 0 end
  window_end = now + (window > 0 and window or rate_ms) + 1
end

local function count_rate(taken)
  if rate_max == 0 and places > 0 and opts[5] == '0' then
    redis.call('HDEL', meta, 'rate.max')
  elseif rate_max and rate_max > 0 and taken > 0 then
    redis.call('SET', limiter, string.format('%.0f', used + taken), 'PX',
      string.format('%.0f', window > 0 and window or rate_ms))
  end
end
