-- Token bucket (0) and GCRA (1): the exact instant `whole + part / divisor` at which the bucket is
-- full; the token bucket also has `last`, the time of its last update. The level is the time that
-- the used tokens take to refill. Twins: core::TokenBucket, core::Gcra.
local function bucket_effective(state, quota)
  return quota.algorithm == 0 and math.max(state.last, now) or now
end

local bucket = {effective = bucket_effective}

function bucket.absent() return {whole = 0, part = 0, last = 0} end

function bucket.decode(bytes, quota)
  local state = {}
  if quota.algorithm == 0 then
    state.whole, state.part, state.last = struct.unpack('<I7I4I7', bytes, 22)
  else
    state.whole, state.part = struct.unpack('<I7I4', bytes, 22)
    state.last = 0
  end
  return state
end

function bucket.encode(state, quota)
  if quota.algorithm == 0 then
    return struct.pack('<I7I4I7', state.whole, state.part, state.last)
  end
  return struct.pack('<I7I4', state.whole, state.part)
end

function bucket.settle(state, quota)
  local changed = false
  local fill = quota.fill_part > 0 and quota.fill_whole + 1 or quota.fill_whole
  if quota.algorithm == 0 and state.last - now > fill then
    state.whole = state.whole - math.min(state.last - now, state.whole)
    state.last = now
    changed = true
  end
  local latest = bucket_effective(state, quota) + quota.fill_whole
  if state.whole > latest or (state.whole == latest and state.part > quota.fill_part) then
    state.whole, state.part = latest, quota.fill_part
    changed = true
  end
  return changed
end

-- The instant after charging the cost, or nil when it does not fit.
local function bucket_after(state, quota, check)
  local at = bucket_effective(state, quota)
  local whole, part = at, 0
  if state.whole >= at then whole, part = state.whole, state.part end
  whole, part = whole + check.need_whole, part + check.need_part
  if part >= quota.divisor then whole, part = whole + 1, part - quota.divisor end
  local latest = at + quota.fill_whole
  if whole > latest or (whole == latest and part > quota.fill_part) then return nil end
  return whole, part, at
end

function bucket.fits(state, quota, check)
  return bucket_after(state, quota, check) ~= nil
end

function bucket.take(state, quota, check)
  state.whole, state.part, state.last = bucket_after(state, quota, check)
end

function bucket.refund(state, quota, check)
  local at = bucket_effective(state, quota)
  local whole, part = at, 0
  if state.whole >= at then
    whole, part = state.whole - check.need_whole, state.part - check.need_part
    if part < 0 then whole, part = whole - 1, part + quota.divisor end
    if whole < at then whole, part = at, 0 end
  end
  state.whole, state.part, state.last = whole, part, at
end

function bucket.expires(state, quota)
  local full = state.part > 0 and state.whole + 1 or state.whole
  return quota.algorithm == 0 and math.max(full, state.last) or full
end

-- Four times as far as needed, at most one whole refill: a busy key is seldom renewed.
function bucket.keep_until(expires, quota)
  return math.max(expires, math.min(now + 4 * (expires - now), now + quota.fill_whole + 1))
end

-- The level now, at most a whole bucket.
local function bucket_level(state, quota)
  local at = bucket_effective(state, quota)
  if state.whole < at then return 0, 0 end
  local whole, part = state.whole - at, state.part
  if whole > quota.fill_whole or (whole == quota.fill_whole and part > quota.fill_part) then
    return quota.fill_whole, quota.fill_part
  end
  return whole, part
end

-- Used tokens, and the rest in units of the quota; token_units of them are a token.
function bucket.level(state, quota)
  local whole, part = bucket_level(state, quota)
  local tokens, rest = multiply_divide(whole, quota.divisor, quota.token_units)
  -- a microsecond may refill several tokens, and so may a part of one
  local left = math.fmod(rest + part, quota.token_units)
  return tokens + (rest + part - left) / quota.token_units, left
end

function bucket.used(state, quota)
  local tokens, rest = bucket.level(state, quota)
  return rest > 0 and tokens + 1 or tokens
end

-- Usage in a bucket drains from the moment of the charge.
function bucket.counts_until() return 0 end

-- A bucket with `tokens` and `rest / from_units` of one more used at this instant. REQUIRES: they
-- fit.
function bucket.with_level(tokens, rest, from_units, quota, instant)
  local converted, left = 0, 0
  if rest > 0 then converted, left = multiply_divide(rest, quota.token_units, from_units) end
  if left > 0 then converted = converted + 1 end
  local whole, part = multiply_divide(tokens, quota.token_units, quota.divisor)
  local more = math.fmod(part + converted, quota.divisor)
  whole, part = whole + (part + converted - more) / quota.divisor, more
  return {whole = instant + whole, part = part, last = instant}
end

function bucket.with_used(used, quota) return bucket.with_level(used, 0, 1, quota, now) end

modules[0] = bucket
modules[1] = bucket
