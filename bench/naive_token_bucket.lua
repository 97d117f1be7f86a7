-- The token bucket of the textbooks, one call per check: the baseline of `penstock-bench store` on
-- Redis. Tokens and time in floating point, a hash of two fields, written for denials too.
--
-- KEYS[1]  the bucket
-- ARGV     tokens per second, capacity, cost
-- Returns  1 if allowed, else 0
-- TTL      the time that an empty bucket takes to fill, renewed by every call
-- O(1). Twin: bench/naive_limiter.hpp
local rate = tonumber(ARGV[1])
local capacity = tonumber(ARGV[2])
local cost = tonumber(ARGV[3])

local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'last')
local tokens = tonumber(bucket[1]) or capacity
local last = tonumber(bucket[2]) or now

tokens = math.min(capacity, tokens + math.max(0, now - last) * rate)
local allowed = 0
if tokens >= cost then
  tokens = tokens - cost
  allowed = 1
end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'last', now)
redis.call('PEXPIRE', KEYS[1], math.ceil(capacity / rate * 1000))
return allowed
