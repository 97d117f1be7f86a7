-- Forgets what keys have used. A block stays.
--
-- KEYS     the keys, each once
-- Returns  `now`, then the states before, nil for none
-- TTL      of a block that stays: until it ends
-- O(keys).
local states = redis.call('MGET', unpack(KEYS))
for i, key in ipairs(KEYS) do
  local state = states[i]
  if state and string.byte(state) == 1 and #state >= 8 and struct.unpack('<I7', state, 2) > now then
    local ends = struct.unpack('<I7', state, 2)
    redis.call('SET', key, string.sub(state, 1, 8), 'PXAT',
      string.format('%.0f', math.ceil(ends / 1000)))
  else
    redis.call('DEL', key)
  end
end
table.insert(states, 1, now)
return states
