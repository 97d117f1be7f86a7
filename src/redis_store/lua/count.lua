-- Adds to a counter: a hash with v, its value, and p, which is present when it has no lifetime.
--
-- KEYS[1]  the counter
-- ARGV[1]  the amount to add, a signed 64-bit integer
-- ARGV[2]  lifetime in milliseconds of a new counter; 0 for none
-- Returns  the new value, as text: a Lua number would lose digits. An overflow is an error of
--          HINCRBY, and changes nothing.
-- TTL      the lifetime, from the first addition; without one, a year from the last
-- O(1). `now` is not needed.
local kYear = 31622400000
local key = KEYS[1]
local is_new = redis.call('EXISTS', key) == 0
redis.call('HINCRBY', key, 'v', ARGV[1])
if is_new and ARGV[2] ~= '0' then
  redis.call('PEXPIRE', key, ARGV[2])
elseif is_new then
  redis.call('HSET', key, 'p', '')
  redis.call('PEXPIRE', key, string.format('%.0f', kYear))
elseif redis.call('HEXISTS', key, 'p') == 1 and redis.call('PTTL', key) < kYear - 86400000 then
  redis.call('PEXPIRE', key, string.format('%.0f', kYear))
end
return redis.call('HGET', key, 'v')
