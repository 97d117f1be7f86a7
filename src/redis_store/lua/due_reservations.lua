-- Open reservations that have expired.
--
-- KEYS[1]  the open ones: a sorted set of ids by expiry, in microseconds
-- ARGV[1]  how many to return at most
-- Returns  ids, the longest expired first
-- TTL      nothing is written
-- O(log open ones + those returned).
return redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[1])
