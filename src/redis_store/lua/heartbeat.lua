-- Records a heartbeat of a node, with what other nodes show of it, and returns the number of live
-- nodes.
--
-- KEYS[1]  the nodes: a sorted set of their names by last heartbeat, in microseconds
-- KEYS[2]  a hash: a summary of each node; the texts are opaque here
-- KEYS[3]  a hash: the history of each node
-- KEYS[4]  exists while a node reads them (fleet.lua)
-- ARGV[1]  the name of this node
-- ARGV[2]  how long a heartbeat is valid, in microseconds; 0 removes the node
-- ARGV[3]  the summary; empty: the last one stays
-- ARGV[4]  the history; empty: the last one stays
-- Returns  {the number of live nodes, this one included; 1 while KEYS[4] exists}
-- TTL      the validity of a heartbeat
-- O(log nodes), and once for each expired node. Twin: src/service/membership.hpp.
local key = KEYS[1]
local node = ARGV[1]
local lasts = tonumber(ARGV[2])
local function forget(name)
  redis.call('HDEL', KEYS[2], name)
  redis.call('HDEL', KEYS[3], name)
end
if lasts == 0 then
  redis.call('ZREM', key, node)
  forget(node)
else
  local ttl = string.format('%.0f', math.ceil(lasts / 1000))
  local expired = string.format('%.0f', now - lasts)
  redis.call('ZADD', key, string.format('%.0f', now), node)
  for _, name in ipairs(redis.call('ZRANGE', key, '-inf', expired, 'BYSCORE')) do forget(name) end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', expired)
  redis.call('PEXPIRE', key, ttl)
  for i = 2, 3 do
    local text = ARGV[i + 1]
    if text ~= '' then redis.call('HSET', KEYS[i], node, text) end
    redis.call('PEXPIRE', KEYS[i], ttl)
  end
end
return {redis.call('ZCARD', key), redis.call('EXISTS', KEYS[4])}
