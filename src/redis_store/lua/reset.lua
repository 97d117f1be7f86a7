-- Resets the usage of keys and their leases. A block stays.
--
-- KEYS     the keys, each once; then the key of the escrow of each, in the same order
-- Returns  `now`, then the previous states of the keys, nil for none
-- TTL      of a block that stays: until it ends; of an escrow: until its epoch begins
-- O(keys). Twin: core::after_reset, through replay/key_replay.cpp.
local count = #KEYS / 2
local states = redis.call('MGET', unpack(KEYS, 1, count))
local escrows = redis.call('MGET', unpack(KEYS, count + 1))
local escrow_format = '<I1I7I7I4I4'

-- Outstanding leases belong to epochs that do not recur: their reports return nothing to the
-- bucket, which is already full.
local function reset_escrow(key, bytes)
  if not bytes then return end
  local _, lifetime, epoch
  if #bytes == 23 and string.byte(bytes) == 16 then
    _, lifetime, epoch = struct.unpack(escrow_format, bytes)
  end
  if not lifetime or lifetime == 0 then
    redis.call('DEL', key)
    return
  end
  local present = (now - math.fmod(now, lifetime)) / lifetime
  epoch = math.min(math.max(epoch, present) + 2, present + 64)
  redis.call('SET', key, struct.pack(escrow_format, 16, lifetime, epoch, 0, 0), 'PXAT',
    string.format('%.0f', math.ceil(epoch * lifetime / 1000)))
end

for i = 1, count do
  local key = KEYS[i]
  reset_escrow(KEYS[count + i], escrows[i])
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
