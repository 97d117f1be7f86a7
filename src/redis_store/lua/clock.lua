-- The clock of every script: that of Redis, read once. Microseconds since 1970.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
