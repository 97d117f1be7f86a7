-- Reservations that are open and over.
--
-- KEYS[1]  those that are open: a sorted set of ids by when they are over, in microseconds
-- ARGV[1]  how many to return at most
-- Returns  ids, those that were over first
-- TTL      nothing is written
-- O(log open ones + those returned).
return redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, ARGV[1])
