-- Checks of many keys under one token bucket or GCRA quota, all with the same cost, one or several
-- per key. The fast path for the usual case; decide.lua handles all others.
--
-- KEYS     the keys, each once
-- ARGV[1]  header of the states that this quota writes (state_codec.hpp)
-- ARGV[2]  packed: I4 divisor, I7 I4 time to fill the bucket, I7 I4 refill time of the cost
-- ARGV[3]  packed: I4 per key, the number of its checks; empty when each has one
-- Returns  the previous states, nil for none, then `now`. The caller replays the checks on them.
--          A state with another header is skipped, and left to decide.lua.
-- TTL      at least until the bucket is full; when too short, renewed to four times that, so that a
--          busy key is seldom renewed.
-- O(keys + admissions). Twins: core::TokenBucket and core::Gcra, through replay/key_replay.cpp.
local header = ARGV[1]
local divisor, fill_whole, fill_part, need_whole, need_part = struct.unpack('<I4I7I4I7I4', ARGV[2])
local counts = ARGV[3]
-- A GCRA state ends before `last`. unpack() returns a small number in its place, which is long
-- past, and pack() omits it: so one loop serves both.
local is_gcra = string.byte(header) == 17
local format = is_gcra and '<c15I6I7I4' or '<c15I6I7I4I7'
local changing = is_gcra and '<I7I4' or '<I7I4I7'  -- the fields after the header and the TTL
local size = is_gcra and 32 or 39
local fill = fill_part > 0 and fill_whole + 1 or fill_whole
local pack, unpack_bytes, call, keys = struct.pack, struct.unpack, redis.call, KEYS

local key_count = #keys
local states
if key_count == 1 then
  states = {call('GET', keys[1])}  -- a single key is the most common call
else
  states = call('MGET', unpack(keys))
end
for i = 1, key_count do
  local state = states[i]
  local own_header, ttl, whole, part, last = header, 0, 0, 0, 0
  if state then
    if #state == size then
      own_header, ttl, whole, part, last = unpack_bytes(format, state)
    else
      own_header = nil
    end
  end
  if own_header == header then
    local write = false
    -- when the clock steps back, the bucket's clock stands still, for at most one refill
    if last - now > fill then
      whole = whole - math.min(last - now, whole)
      last, write = now, true
    end
    local at = last > now and last or now
    local latest = at + fill_whole
    if whole > latest or (whole == latest and part > fill_part) then
      whole, part, write = latest, fill_part, true
    end
    local count = 1
    if counts ~= '' then count = unpack_bytes('<I4', counts, 4 * i - 3) end
    for _ = 1, count do
      local next_whole, next_part = at + need_whole, need_part
      if whole >= at then next_whole, next_part = whole + need_whole, part + need_part end
      if next_part >= divisor then
        next_whole, next_part = next_whole + 1, next_part - divisor
      end
      if next_whole > latest or (next_whole == latest and next_part > fill_part) then break end
      whole, part, last, write = next_whole, next_part, at, true
    end
    if write then
      if ttl * 1000 > whole then
        call('SETRANGE', keys[i], '21', pack(changing, whole, part, last))  -- keeps the TTL
      else
        local expires = part > 0 and whole + 1 or whole
        local generous = math.min(now + 4 * (expires - now), now + fill)
        ttl = math.ceil(math.max(expires, generous) / 1000)
        call('SET', keys[i], pack(format, header, ttl, whole, part, last), 'PXAT',
          string.format('%.0f', ttl))
      end
    end
  end
end
states[key_count + 1] = now  -- a whole number below 2^53: exact
return states
