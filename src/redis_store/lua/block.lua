-- Blocks a key for a time, or unblocks it. The block precedes the key's state: I1 1, I7 until when,
-- then the state unchanged.
--
-- KEYS[1]  the key
-- ARGV[1]  duration in microseconds; 0 unblocks
-- Returns  1 when the key was blocked before, else 0
-- TTL      until the block ends and the state is empty, whichever is later
-- O(1).
local state = redis.call('GET', KEYS[1])
local duration = tonumber(ARGV[1])
local was_blocked = 0
if state and string.byte(state) == 1 and #state >= 8 then
  if struct.unpack('<I7', state, 2) > now then was_blocked = 1 end
  state = string.sub(state, 9)
  if #state == 0 then state = false end
end
-- every state has its expiry at this offset
local state_ends = state and #state >= 22 and struct.unpack('<I6', state, 16) or 0
if duration > 0 then
  local ends = now + duration
  redis.call('SET', KEYS[1], struct.pack('<I1I7', 1, ends) .. (state or ''), 'PXAT',
    string.format('%.0f', math.max(math.ceil(ends / 1000), state_ends)))
elseif state and state_ends * 1000 > now then
  redis.call('SET', KEYS[1], state, 'PXAT', string.format('%.0f', state_ends))
else
  redis.call('DEL', KEYS[1])
end
return was_blocked
