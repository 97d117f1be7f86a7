-- Sets the lifetime of the counters of a name.
--
-- KEYS[1]  the integer (count.lua)
-- KEYS[2]  the decimal
-- ARGV[1]  milliseconds from now, above 0
-- ARGV[2]  1: only counters without a lifetime
-- Returns  how many counters were changed
-- TTL      ARGV[1]
-- O(1). `now` is not needed.
local changed = 0
for i = 1, 2 do
  local is_persistent = redis.call('HEXISTS', KEYS[i], 'p') == 1
  if redis.call('EXISTS', KEYS[i]) == 1 and (is_persistent or ARGV[2] == '0') then
    redis.call('HDEL', KEYS[i], 'p')
    redis.call('PEXPIRE', KEYS[i], ARGV[1])
    changed = changed + 1
  end
end
return changed
