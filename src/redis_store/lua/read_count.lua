-- What a counter holds. A script, because a server that is no longer the master would answer a plain
-- HGET from what it remembers.
--
-- KEYS[1]  the counter (count.lua)
-- Returns  its value as text; nil for none
-- TTL      nothing is written
-- O(1). `now` is not needed.
return redis.call('HGET', KEYS[1], 'v')
