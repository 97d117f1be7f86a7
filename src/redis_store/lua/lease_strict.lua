-- Decides requests under buckets, and leases units of them that stay accounted for until they are
-- spent, returned or expired: tokens plus leased units never exceed the burst. Each bucket has a
-- second key, its escrow, with the units leased in the current epoch and in the previous one.
-- Requests admitted here are charged at once and are not part of the escrow.
--
-- KEYS     per ask: the bucket's key, the escrow's; each once
-- ARGV[1]  packed (lease/lease_calls.cpp):
--            I2 quotas, I2 asks
--            per quota:   c15 header of its states, I4 divisor, I7 I4 time to fill the bucket
--            per ask:     I2 quota, I7 lifetime of leases in microseconds, I4 cost and I4 count of
--                         requests to decide, I4 need, I4 due, I4 want, I4 sharers, I1 reports
--            per report:  I7 epoch, I4 spent, I4 returned
-- Returns  `now`; I4 I4 per ask, packed: how many requests were admitted and how much was leased,
--          or 2^32 - 1 when these modules could not read a state; then the previous states, bucket and
--          escrow in turn, nil for none.
--          The caller replays the asks on them.
-- TTL      of an escrow: until the leases have expired and refilled; of a bucket as in decide.lua,
--          and at least that of its escrow.
-- O(keys). Twin: src/core/lease.cpp, through replay/key_replay.cpp.
local plan = ARGV[1]
local quota_count, ask_count, at = struct.unpack('<I2I2', plan)
local quotas = {}
for i = 1, quota_count do
  local header, divisor, whole, part
  header, divisor, whole, part, at = struct.unpack('<c15I4I7I4', plan, at)
  local quota = quota_of(header)
  quota.divisor, quota.fill_whole, quota.fill_part = divisor, whole, part
  add_bucket_numbers(quota)
  quotas[i] = quota
end

local escrow_format = '<I1I7I7I4I4'

-- Nil when the bytes are malformed.
local function read_escrow(bytes)
  if not bytes then return {lifetime = 0, epoch = 0, current = 0, previous = 0} end
  if #bytes ~= 23 or string.byte(bytes) ~= 16 then return nil end
  local escrow, _ = {exists = true}
  _, escrow.lifetime, escrow.epoch, escrow.current, escrow.previous =
    struct.unpack(escrow_format, bytes)
  return escrow.lifetime > 0 and escrow or nil
end

local function leased_of(escrow) return escrow.current + escrow.previous end

local function end_of(escrow) return (escrow.epoch + 1) * escrow.lifetime end

-- The earliest instant at which the bucket is full, with this much leased at `instant`.
local function full_after(instant, leased, quota)
  local whole, part =
    multiply_divide(math.min(leased, quota.capacity), quota.token_units, quota.divisor)
  return instant + whole, part
end

local function refill_only_after(state, instant, leased, quota)
  local whole, part = full_after(instant, leased, quota)
  if whole > state.whole or (whole == state.whole and part > state.part) then
    state.whole, state.part = whole, part
  end
end

local function epoch_of(instant, lifetime)
  return (instant - math.fmod(instant, lifetime)) / lifetime
end

-- A reset leaves an escrow in a future epoch, with nothing leased: it stays in that epoch.
local function start_over(escrow, lifetime, instant)
  local present = epoch_of(instant, lifetime)
  local ahead = leased_of(escrow) == 0 and escrow.lifetime == lifetime and escrow.epoch > present
    and escrow.epoch - present <= 64
  escrow.current, escrow.previous = leased_of(escrow), 0
  escrow.lifetime = lifetime
  if not ahead then escrow.epoch = present end
end

-- Returns whether the entry must be written even when nothing is granted.
local function advance(entry, escrow, quota, lifetime)
  local state = entry.state
  local changed = bucket.settle(state, quota)
  local instant = bucket_effective(state, quota)
  if leased_of(escrow) > 0 then entry.absent = false end
  while leased_of(escrow) > 0 and end_of(escrow) <= instant do
    refill_only_after(state, end_of(escrow), leased_of(escrow), quota)
    escrow.previous, escrow.current, escrow.epoch = escrow.current, 0, escrow.epoch + 1
  end
  if leased_of(escrow) > 0 and escrow.epoch - epoch_of(instant, escrow.lifetime) > 64 then
    start_over(escrow, escrow.lifetime, instant)
    changed = true
  end
  if leased_of(escrow) == 0 or lifetime > escrow.lifetime then
    changed = changed or leased_of(escrow) > 0
    start_over(escrow, lifetime, instant)
  end
  refill_only_after(state, instant, leased_of(escrow), quota)
  state.last = instant
  return changed
end

local function settle_report(entry, escrow, quota, epoch, spent, returned)
  local name = epoch == escrow.epoch and 'current'
    or epoch == escrow.epoch - 1 and 'previous'
  if not name then return end
  escrow[name] = escrow[name] - math.min(spent, escrow[name])
  local unused = math.min(returned, escrow[name])
  escrow[name] = escrow[name] - unused
  if unused > 0 then
    bucket.refund(entry.state, quota, cost_of(math.min(unused, quota.capacity), quota))
  end
end

local function escrow_expires(escrow, quota)
  if leased_of(escrow) == 0 then return escrow.epoch * escrow.lifetime end
  local ends = end_of(escrow)
  local both, both_part = full_after(ends, leased_of(escrow), quota)
  local current, current_part = full_after(ends + escrow.lifetime, escrow.current, quota)
  return math.max(both_part > 0 and both + 1 or both,
    current_part > 0 and current + 1 or current)
end

local function write_escrow(key, escrow, expires)
  if expires <= now then
    if escrow.exists then redis.call('DEL', key) end
    return
  end
  redis.call('SET', key, struct.pack(escrow_format, 16, escrow.lifetime, escrow.epoch,
    escrow.current, escrow.previous), 'PXAT', string.format('%.0f', math.ceil(expires / 1000)))
end

local raw = redis.call('MGET', unpack(KEYS))
local granted = {}
for ask = 1, ask_count do
  local quota, lifetime, cost, count, need, due, want, sharers, reports
  quota, lifetime, cost, count, need, due, want, sharers, reports, at =
    struct.unpack('<I2I7I4I4I4I4I4I4I1', plan, at)
  quota = quotas[quota]
  local entry = read_entry(2 * ask - 1, raw[2 * ask - 1], quota)
  local escrow = read_escrow(raw[2 * ask])
  local readable = entry and escrow
  local changed = readable and (entry.dirty or reports > 0)
  -- usage of a window becomes that of the bucket with the first lease; usage that does not fit
  -- prevents a grant
  local was_window = readable and not entry.absent and entry.quota.algorithm > 1
  local fits_bucket = readable and used_of(entry) <= quota.capacity
  if was_window and fits_bucket then adopt(entry, quota) end
  local leasable = readable and fits_bucket or readable and not was_window
  if leasable then changed = advance(entry, escrow, entry.quota, lifetime) or changed end
  for _ = 1, reports do
    local epoch, spent, returned
    epoch, spent, returned, at = struct.unpack('<I7I4I4', plan, at)
    if leasable then settle_report(entry, escrow, entry.quota, epoch, spent, returned) end
  end
  local admitted, units = 0, 0
  if not readable then
    admitted, units = 4294967295, 4294967295
  elseif leasable and not blocked[2 * ask - 1] then
    local available = remaining_of(entry, quota)
    if cost > 0 then
      admitted = math.min(count, (available - math.fmod(available, cost)) / cost)
    end
    local used = admitted * cost
    if admitted == count then units = portion(available - used, need, due, want, sharers) end
    if used + units > 0 then
      adopt(entry, quota)
      bucket.take(entry.state, quota, cost_of(used + units, quota))
      escrow.current = escrow.current + units
      entry.absent, changed = false, true
    end
  end
  if changed and (admitted + units > 0 or not was_window) then
    local expires = escrow_expires(escrow, entry.quota)
    if not entry.absent then
      write_entry(KEYS[2 * ask - 1], entry, blocked[2 * ask - 1], expires)
    end
    write_escrow(KEYS[2 * ask], escrow, expires)
  end
  granted[ask] = struct.pack('<I4I4', admitted, units)
end

local reply = {now, table.concat(granted)}
for i = 1, #KEYS do reply[i + 2] = raw[i] or false end
return reply
