-- Both counters of a name, with their remaining lifetimes.
--
-- KEYS[1]  the integer (count.lua)
-- KEYS[2]  the decimal
-- Returns  for each its value as text, nil for none, and its lifetime in milliseconds, -1 for none
-- TTL      nothing is written
-- O(1). `now` is not needed.
local answer = {}
for i = 1, 2 do
  local is_persistent = redis.call('HEXISTS', KEYS[i], 'p') == 1
  answer[2 * i - 1] = redis.call('HGET', KEYS[i], 'v')
  answer[2 * i] = is_persistent and -1 or math.max(0, redis.call('PTTL', KEYS[i]))
end
return answer
