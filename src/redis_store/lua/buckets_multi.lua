-- Multi-limit checks under token bucket or GCRA limits: all limits of a request pass, or nothing is
-- charged. All requests have the same limits and costs and are decided in order. The fast path for
-- the usual case; decide.lua handles all others.
--
-- KEYS     the keys, each once, and each under one limit only
-- ARGV[1]  per limit of a request, packed: c15 header of its states (state_codec.hpp), I4 divisor,
--          I7 I4 time to fill the bucket, I7 I4 refill time of the cost
-- ARGV[2]  packed: I2 per limit of each request, its key; empty when no two requests share a key,
--          and their keys are in order
-- Returns  the previous states, nil for none, then `now`. The caller replays the requests on them.
--          A request with a state with another header is skipped, and left to decide.lua.
-- TTL      as in buckets.lua.
-- O(keys + checks). Twins: core::TokenBucket and core::Gcra, through replay/key_replay.cpp.
local pack, unpack_bytes, call, keys = struct.pack, struct.unpack, redis.call, KEYS
local limits = {}
for n = 1, #ARGV[1] / 41 do
  local limit = {}
  limit.header, limit.divisor, limit.fill_whole, limit.fill_part, limit.need_whole, limit.need_part =
    unpack_bytes('<c15I4I7I4I7I4', ARGV[1], 41 * n - 40)
  -- a GCRA state ends before `last`, as in buckets.lua
  local is_gcra = string.byte(limit.header) == 17
  limit.format = is_gcra and '<c15I6I7I4' or '<c15I6I7I4I7'
  limit.changing = is_gcra and '<I7I4' or '<I7I4I7'
  limit.size = is_gcra and 32 or 39
  limit.fill = limit.fill_part > 0 and limit.fill_whole + 1 or limit.fill_whole
  limits[n] = limit
end

local states = call('MGET', unpack(keys))

-- The bucket of a key; false for a state that this script cannot read. `dirty` when it was settled.
local function read_bucket(i, limit)
  local state = states[i]
  local own_header, ttl, whole, part, last = limit.header, 0, 0, 0, 0
  if state then
    if #state ~= limit.size then return false end
    own_header, ttl, whole, part, last = unpack_bytes(limit.format, state)
    if own_header ~= limit.header then return false end
  end
  local dirty = false
  -- when the clock steps back, the bucket's clock stands still, for at most one refill
  if last - now > limit.fill then
    whole = whole - math.min(last - now, whole)
    last, dirty = now, true
  end
  local latest = (last > now and last or now) + limit.fill_whole
  if whole > latest or (whole == latest and part > limit.fill_part) then
    whole, part, dirty = latest, limit.fill_part, true
  end
  return whole, part, last, ttl, dirty
end

local function write(i, limit, whole, part, last, ttl)
  if ttl * 1000 > whole then
    call('SETRANGE', keys[i], '21', pack(limit.changing, whole, part, last))  -- keeps the TTL
  else
    local expires = part > 0 and whole + 1 or whole
    local generous = math.min(now + 4 * (expires - now), now + limit.fill)
    ttl = math.ceil(math.max(expires, generous) / 1000)
    call('SET', keys[i], pack(limit.format, limit.header, ttl, whole, part, last), 'PXAT',
      string.format('%.0f', ttl))
  end
end

local order = ARGV[2]
local is_shared = order ~= ''
local limit_count = #limits
-- the keys of one request: current values, and the values after it passes
local chosen, wholes, parts, lasts, ttls, dirties, next_wholes, next_parts = {}, {}, {}, {}, {}, {}, {}, {}
local shared = {}  -- keys that another request may have too, written at the end

for first = 0, (is_shared and #order / 2 or #keys) - 1, limit_count do
  local fits = true
  for n = 1, limit_count do
    local limit, i = limits[n], first + n
    local whole, part, last, ttl, dirty
    if is_shared then
      i = unpack_bytes('<I2', order, 2 * i - 1)
      if shared[i] then whole, part, last, ttl, dirty = unpack(shared[i]) end
    end
    if whole == nil then whole, part, last, ttl, dirty = read_bucket(i, limit) end
    chosen[n], wholes[n], parts[n], lasts[n], ttls[n], dirties[n] = i, whole, part, last, ttl, dirty
    if whole then
      local at = last > now and last or now
      if whole < at then whole, part = at, 0 end
      whole, part = whole + limit.need_whole, part + limit.need_part
      if part >= limit.divisor then whole, part = whole + 1, part - limit.divisor end
      local latest = at + limit.fill_whole
      if whole > latest or (whole == latest and part > limit.fill_part) then fits = false end
      next_wholes[n], next_parts[n] = whole, part
    else
      fits = false
    end
  end
  for n = 1, limit_count do
    local whole, part, last, dirty = wholes[n], parts[n], lasts[n], dirties[n]
    if fits then
      whole, part, dirty = next_wholes[n], next_parts[n], true
      if last < now then last = now end
    end
    if is_shared then
      shared[chosen[n]] = {whole, part, last, ttls[n], dirty, limits[n]}
    elseif dirty then
      write(chosen[n], limits[n], whole, part, last, ttls[n])
    end
  end
end

for i, entry in pairs(shared) do
  if entry[5] then write(i, entry[6], entry[1], entry[2], entry[3], entry[4]) end
end
states[#keys + 1] = now
return states
