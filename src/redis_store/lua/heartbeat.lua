-- Records a heartbeat of a node and returns the number of live nodes.
--
-- KEYS[1]  the nodes: a sorted set of their names by last heartbeat, in microseconds
-- ARGV[1]  the name of this node
-- ARGV[2]  how long a heartbeat is valid, in microseconds; 0 removes the node
-- Returns  the number of live nodes, this one included
-- TTL      the validity of a heartbeat
-- O(log nodes), and once for each expired node. Twin: src/service/membership.hpp.
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
