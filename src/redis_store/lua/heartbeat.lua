-- One more sign of life of a node, and how many have given one lately.
--
-- KEYS[1]  the nodes: a sorted set of their names by when they were last heard of, in microseconds
-- ARGV[1]  the name of this node
-- ARGV[2]  how long a sign of life lasts, in microseconds; 0 takes the node away
-- Returns  how many nodes there are, this one included
-- TTL      as long as a sign of life lasts
-- O(log nodes), and once for each that is gone. Its C++ twin is src/service/membership.hpp.
local key = KEYS[1]
local lasts = tonumber(ARGV[2])
if lasts == 0 then
  redis.call('ZREM', key, ARGV[1])
else
  redis.call('ZADD', key, string.format('%.0f', now), ARGV[1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - lasts))
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(lasts / 1000)))
end
return redis.call('ZCARD', key)
