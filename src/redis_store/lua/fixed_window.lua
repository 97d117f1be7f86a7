-- Fixed windows, aligned (2) or starting with the first request (3): the end of the window and its
-- usage. Twin: core::FixedWindow.
local fixed_window = {}

local function fixed_window_end(quota)
  if quota.algorithm == 3 then return now + quota.period end
  return now - math.fmod(now, quota.period) + quota.period
end

function fixed_window.absent() return {ends = 0, count = 0} end

function fixed_window.decode(bytes)
  local state = {}
  state.ends, state.count = struct.unpack('<I7I4', bytes, 22)
  return state
end

function fixed_window.encode(state) return struct.pack('<I7I4', state.ends, state.count) end

function fixed_window.settle(state, quota)
  if now >= state.ends or state.count == 0 then
    state.ends, state.count = fixed_window_end(quota), 0
    return false
  end
  if state.ends - now <= 2 * quota.period then return false end
  state.ends = fixed_window_end(quota)
  return true
end

function fixed_window.fits(state, quota, check) return state.count + check.asked <= quota.limit end

function fixed_window.take(state, quota, check) state.count = state.count + check.cost end

function fixed_window.refund(state, quota, check)
  state.count = math.max(0, state.count - check.cost)
end

function fixed_window.expires(state) return state.ends end

function fixed_window.keep_until(expires) return expires end

function fixed_window.used(state) return state.count end

function fixed_window.counts_until(quota) return fixed_window_end(quota) end

function fixed_window.with_used(used, quota)
  return {ends = fixed_window_end(quota), count = used}
end

modules[2] = fixed_window
modules[3] = fixed_window
