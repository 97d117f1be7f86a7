-- The value of a counter. A script, because a demoted master would answer a plain HGET with stale
-- data.
--
-- KEYS[1]  the counter (count.lua)
-- Returns  its value as text; nil for none
-- TTL      nothing is written
-- O(1). `now` is not needed.
return redis.call('HGET', KEYS[1], 'v')
