-- Permits of a concurrency limit.
--
-- KEYS[1]  a sorted set of holders by the expiry of their permits, in microseconds
-- ARGV[1]  acquire, renew or release
-- ARGV[2]  the holder
-- ARGV[3]  lifetime of the permit from now, in microseconds; it is never shortened
-- ARGV[4]  of acquire: the number of permits
-- Returns  of release: 1 when the holder had a permit, else 0
--          else {1 or 0: the holder has a permit, permits in use, until it expires or one is free}
-- TTL      until the last permit expires
-- O(log permits), and once for each expired one. Twin: src/core/permit_set.cpp.
local key, what, name = KEYS[1], ARGV[1], ARGV[2]
redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
if what == 'release' then return redis.call('ZREM', key, name) end

local over = redis.call('ZSCORE', key, name)
local taken = redis.call('ZCARD', key)
if not over then
  if what == 'renew' then return {0, taken, 0} end
  local limit = tonumber(ARGV[4])
  if taken >= limit then
    local next_free = redis.call('ZRANGE', key, taken - limit, taken - limit, 'WITHSCORES')
    return {0, taken, tonumber(next_free[2]) - now}
  end
  taken = taken + 1
end
over = math.max(over and tonumber(over) or 0, now + tonumber(ARGV[3]))
redis.call('ZADD', key, string.format('%.0f', over), name)
local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', key, string.format('%.0f', math.ceil(tonumber(last[2]) / 1000)))
return {1, taken, over - now}
