-- The action log, a list with the newest entry first: appends one entry, or reads the newest ones.
-- An entry is I7 when it happened, I7 when its effect expires, 0 for never, in microseconds, then
-- the rest.
--
-- KEYS[1]  the log
-- ARGV[1]  how many entries to return; 0 appends
-- ARGV[2…] to append: the entry without its times, how long its effect lasts in microseconds or 0,
--          how many entries are kept, and for how long in milliseconds
-- Returns  the entries; 1 after an append
-- TTL      ARGV[5] after the last append
-- O(entries returned). Twin: src/store/operator_table.cpp.
local count = tonumber(ARGV[1])
if count > 0 then return redis.call('LRANGE', KEYS[1], 0, count - 1) end
local lasts = tonumber(ARGV[3])
local ends = lasts > 0 and now + lasts or 0
redis.call('LPUSH', KEYS[1], struct.pack('<I7I7', now, ends) .. ARGV[2])
redis.call('LTRIM', KEYS[1], 0, tonumber(ARGV[4]) - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
