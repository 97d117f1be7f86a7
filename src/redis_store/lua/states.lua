-- States of keys of any algorithm: the quota they were last admitted under, and what a request
-- under another quota may take. Used by the scripts that follow, with the modules before. Twins:
-- src/redis_store/replay/state_codec.cpp, core::decide_under, core::portion.

-- From the header alone; add_bucket_numbers() adds the numbers of a bucket.
local function quota_of(header)
  local quota = {header = header}
  local format, limit, capacity, period, parts = struct.unpack('<I1I4I4I5I1', header)
  quota.algorithm, quota.limit, quota.capacity = format - 16, limit, capacity
  quota.period, quota.parts = period * 1000, parts
  return quota
end

local function add_bucket_numbers(quota)
  if quota.algorithm > 1 or quota.token_units then return end
  if not quota.divisor then
    local a, b = quota.period, quota.limit
    while b > 0 do a, b = b, math.fmod(a, b) end
    quota.divisor = quota.limit / a
    quota.token_units = quota.period / a
    quota.fill_whole, quota.fill_part =
      multiply_divide(quota.capacity, quota.token_units, quota.divisor)
  end
  quota.token_units = quota.period / (quota.limit / quota.divisor)
end

local blocked = {}  -- until when, for blocked keys

local function sizes_agree(bytes, quota)
  local size = #bytes
  if quota.algorithm == 0 then return size == 39 end
  if quota.algorithm == 5 then return size == 36 end
  if quota.algorithm == 6 then return size == 28 + 4 * (quota.parts + 1) end
  if quota.algorithm == 4 then
    if size < 40 then return false end
    local first, _, count = struct.unpack('<I4I4I4', bytes, 22)
    return size == 40 + 11 * count and first <= count
  end
  return size == 32
end

-- The entry of a key with these bytes; nil when these modules cannot read them.
local function read_entry(i, bytes, quota)
  if bytes and string.byte(bytes) == 1 and #bytes >= 8 then
    local ends = struct.unpack('<I7', bytes, 2)
    if ends > now then blocked[i] = ends end
    bytes = #bytes > 8 and string.sub(bytes, 9)
  end
  if not bytes then
    return {quota = quota, module = modules[quota.algorithm], ttl = 0,
      state = modules[quota.algorithm].absent(quota), absent = true}
  end
  if #bytes < 22 then return nil end
  local header, ttl = struct.unpack('<c15I6', bytes)
  local own = header == quota.header and quota or quota_of(header)
  local module = modules[own.algorithm]
  if not module or not sizes_agree(bytes, own) then return nil end
  add_bucket_numbers(own)
  local state = module.decode(bytes, own)
  local entry = {quota = own, module = module, state = state, ttl = ttl, exists = true}
  if module.settle(state, own) then entry.dirty = true end
  return entry
end

local function same_shape(a, b)
  return a.algorithm > 1 and a.algorithm == b.algorithm and a.period == b.period
    and a.parts == b.parts
end

-- Current usage in whole units, rounded up.
local function used_of(entry)
  return entry.absent and 0 or entry.module.used(entry.state, entry.quota)
end

-- Units of a quota that remain after all usage.
local function remaining_of(entry, quota) return math.max(0, quota.capacity - used_of(entry)) end

-- Whether the check fits its quota on top of all usage, charged under any quota.
local function fits(entry, quota, check)
  local owner = entry.quota
  if not entry.absent and (owner.header == quota.header or same_shape(owner, quota)) then
    return entry.module.fits(entry.state, quota, check)
  end
  return used_of(entry) + check.asked <= quota.capacity
end

-- Whether adopting the quota may need a window that holds usage.
local function may_hold(entry, quota)
  local owner = entry.quota
  return not entry.absent and owner.algorithm > 1 and quota.algorithm > 1
    and not same_shape(owner, quota)
end

local function anchored_window(quota)
  return quota_of(struct.pack('<I1I4I4I5I1', 19, quota.limit, quota.limit, quota.period / 1000, 0))
end

-- Whether the new window would forget the usage sooner than the current one.
local function must_hold(entry, quota)
  return may_hold(entry, quota) and used_of(entry) > 0
    and modules[quota.algorithm].counts_until(quota) < entry.module.expires(entry.state, entry.quota)
end

-- Usage of a window, all of it held until the window would have forgotten it.
local function hold(entry)
  local expires = entry.module.expires(entry.state, entry.quota)
  entry.state, entry.module = {ends = expires, count = used_of(entry)}, modules[3]
  if entry.quota.algorithm ~= 2 then entry.quota = anchored_window(entry.quota) end
  entry.module.settle(entry.state, entry.quota)
end

-- Makes the entry drain under the quota of an admitted request. Usage of a window that this quota
-- would forget sooner is held until the old state would have forgotten it, and the request is
-- charged there. REQUIRES: usage fits the quota.
local function adopt(entry, quota)
  local from = entry.quota
  local module = modules[quota.algorithm]
  if from.header == quota.header and not entry.absent then return end
  add_bucket_numbers(quota)
  if entry.absent then
    entry.state = module.absent(quota)
  elseif from.algorithm <= 1 and quota.algorithm <= 1 then
    local tokens, rest = entry.module.level(entry.state, from)
    -- the clock may be behind a token bucket; GCRA counts from now
    local instant = quota.algorithm == 0 and entry.module.effective(entry.state, from) or now
    entry.state = module.with_level(tokens, rest, from.token_units, quota, instant)
  elseif not same_shape(from, quota) then
    if must_hold(entry, quota) then
      hold(entry)
      -- the quota may come after the window that holds usage: two charges leave what their sum
      -- leaves
      if must_hold(entry, quota) then return end
    end
    if not same_shape(entry.quota, quota) then
      entry.state = module.with_used(used_of(entry), quota)
    end
  end
  entry.module, entry.quota = module, quota
  module.settle(entry.state, quota)
end

-- The units for a holder that needs some, wants more, and leaves half of the rest to the others.
local function portion(available, need, due, want, sharers)
  local units = math.min(want, available)
  if sharers > 0 then
    local part = (available - math.fmod(available, 2 * sharers)) / (2 * sharers)
    units = math.min(units, math.max(due, part))
  end
  return units < need and 0 or units
end

-- A check with this cost, as modules charge and refund it.
local function cost_of(units, quota)
  local check = {cost = units}
  if quota.algorithm <= 1 then
    check.need_whole, check.need_part = multiply_divide(units, quota.token_units, quota.divisor)
  end
  return check
end

-- Writes the entry of a key, or deletes an empty key. The key is kept at least until the instant
-- `least`.
local function write_entry(key, entry, blocked_until, least)
  local quota, module = entry.quota, entry.module
  local expires = math.max(module.expires(entry.state, quota), least)
  local too_short = entry.ttl * 1000 < expires
  if expires <= now and not blocked_until then
    redis.call('DEL', key)
    return
  end
  if too_short then entry.ttl = math.ceil(module.keep_until(expires, quota) / 1000) end
  local head = struct.pack('<c15I6', quota.header, entry.ttl)
  local in_place = entry.state.before and not entry.state.entries
  if in_place then
    module.write_in_place(key, head, entry.state)
  elseif blocked_until then
    local ttl = math.max(entry.ttl, math.ceil(blocked_until / 1000))
    redis.call('SET', key, struct.pack('<I1I7', 1, blocked_until) .. head
      .. module.encode(entry.state, quota), 'PXAT', string.format('%.0f', ttl))
  elseif too_short or not entry.exists then
    redis.call('SET', key, head .. module.encode(entry.state, quota), 'PXAT',
      string.format('%.0f', entry.ttl))
  else
    redis.call('SET', key, head .. module.encode(entry.state, quota), 'KEEPTTL')
  end
  if in_place and too_short then
    redis.call('PEXPIREAT', key, string.format('%.0f', entry.ttl))
  end
end
