-- Sliding counter (5): the window that began at `start`, its usage and that of the previous window.
-- Twin: core::SlidingCounter.
local sliding_counter = {}

function sliding_counter.absent() return {start = 0, current = 0, previous = 0} end

function sliding_counter.decode(bytes)
  local state = {}
  state.start, state.current, state.previous = struct.unpack('<I7I4I4', bytes, 22)
  return state
end

function sliding_counter.encode(state)
  return struct.pack('<I7I4I4', state.start, state.current, state.previous)
end

function sliding_counter.settle(state, quota)
  local window = now - math.fmod(now, quota.period)
  if state.start >= window then
    if state.start - now <= quota.period then return false end
    state.start = window
    return true
  end
  state.previous = state.start + quota.period == window and state.current or 0
  state.start, state.current = window, 0
  return false
end

-- Usage of this window, plus the part of the previous one that a period ending now still covers,
-- rounded up.
function sliding_counter.used(state, quota)
  local left = quota.period - math.max(now - state.start, 0)
  local weighted, rest = multiply_divide(state.previous, left, quota.period)
  if rest > 0 then weighted = weighted + 1 end
  return state.current + weighted
end

function sliding_counter.fits(state, quota, check)
  return sliding_counter.used(state, quota) + check.asked <= quota.limit
end

function sliding_counter.take(state, quota, check) state.current = state.current + check.cost end

function sliding_counter.refund(state, quota, check)
  local from_current = math.min(check.cost, state.current)
  state.current = state.current - from_current
  state.previous = math.max(0, state.previous - (check.cost - from_current))
end

function sliding_counter.expires(state, quota)
  return state.start + (state.current > 0 and 2 or 1) * quota.period
end

-- As if this window had usage, which the next request may add.
function sliding_counter.keep_until(expires, quota)
  return math.max(expires, now - math.fmod(now, quota.period) + 2 * quota.period)
end

function sliding_counter.counts_until(quota)
  return now - math.fmod(now, quota.period) + quota.period
end

function sliding_counter.with_used(used, quota)
  return {start = now - math.fmod(now, quota.period), current = used, previous = 0}
end

modules[5] = sliding_counter
