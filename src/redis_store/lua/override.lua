-- Sets or removes one override, and logs the action.
--
-- The overrides are a hash. Each value is I7 when it was set, I7 when it expires, in microseconds,
-- I2 the length of the effect and the effect as text, then the rest. The field "" has the version,
-- which every change increases.
--
-- KEYS[1]  the overrides
-- KEYS[2]  the action log; see action_log.lua
-- ARGV[1]  the field of the override
-- ARGV[2]  how long it lasts in microseconds; 0 removes it
-- ARGV[3]  its value without the times
-- ARGV[4]  the log entry without its times; for a removal the removed effect is appended
-- ARGV[5]  how many overrides there may be
-- ARGV[6]  how many log entries are kept
-- ARGV[7]  how long the log is kept, in milliseconds
-- Returns  {1 when done, 0 when there is none to remove, -1 when there are too many; now; the
--          previous value, nil for none}
-- TTL      until the last override expires; of the log ARGV[7]
-- O(overrides): those that have expired are deleted. Twin: src/store/operator_table.cpp.
local overrides, log = KEYS[1], KEYS[2]
local field, lasts = ARGV[1], tonumber(ARGV[2])
local fields = redis.call('HGETALL', overrides)
local count, last, version, before = 0, 0, 0, nil
for i = 1, #fields, 2 do
  local name, value = fields[i], fields[i + 1]
  if name == '' then
    version = tonumber(value) or 0
  else
    local ends = #value >= 16 and struct.unpack('<I7', value, 8) or 0
    if ends <= now then
      redis.call('HDEL', overrides, name)
    elseif name == field then
      before = value
    else
      count = count + 1
      last = math.max(last, ends)
    end
  end
end
if lasts == 0 and not before then return {0, now} end
if lasts > 0 and not before and count >= tonumber(ARGV[5]) then return {-1, now} end

local entry
if lasts > 0 then
  local ends = now + lasts
  redis.call('HSET', overrides, field, struct.pack('<I7I7', now, ends) .. ARGV[3])
  count = count + 1
  last = math.max(last, ends)
  entry = struct.pack('<I7I7', now, ends) .. ARGV[4]
else
  redis.call('HDEL', overrides, field)
  local size = struct.unpack('<I2', before, 15)
  entry = struct.pack('<I7I7', now, 0) .. ARGV[4] .. string.sub(before, 17, 16 + size)
end
if count > 0 then
  redis.call('HSET', overrides, '', string.format('%.0f', math.max(now, version + 1)))
  redis.call('PEXPIREAT', overrides, string.format('%.0f', math.ceil(last / 1000)))
else
  redis.call('DEL', overrides)
end
redis.call('LPUSH', log, entry)
redis.call('LTRIM', log, 0, tonumber(ARGV[6]) - 1)
redis.call('PEXPIRE', log, ARGV[7])
return {1, now, before}
