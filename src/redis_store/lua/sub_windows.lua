-- Sub-windows (6): counters of the last parts + 1 parts of a period, oldest first, and the number
-- of the newest part. Twin: core::SubWindows.
local sub_windows = {}

local function sub_windows_part(quota)
  local length = quota.period / quota.parts
  return (now - math.fmod(now, length)) / length
end

local function sub_windows_zeros(quota)
  local counts = {}
  for i = 1, quota.parts + 1 do counts[i] = 0 end
  return counts
end

function sub_windows.absent(quota)
  return {newest = sub_windows_part(quota), counts = sub_windows_zeros(quota)}
end

function sub_windows.decode(bytes, quota)
  local counts = {struct.unpack('<I7' .. string.rep('I4', quota.parts + 1), bytes, 22)}
  local newest = table.remove(counts, 1)
  counts[quota.parts + 2] = nil  -- where the next value would begin
  return {newest = newest, counts = counts}
end

function sub_windows.encode(state, quota)
  return struct.pack('<I7' .. string.rep('I4', quota.parts + 1), state.newest,
    unpack(state.counts))
end

function sub_windows.used(state)
  local sum = 0
  for _, count in ipairs(state.counts) do sum = sum + count end
  return sum
end

function sub_windows.settle(state, quota)
  local part = sub_windows_part(quota)
  local counts = state.counts
  if part < state.newest then
    -- future parts without any count are ignored
    if state.newest - part <= quota.parts and sub_windows.used(state) > 0 then return false end
    state.newest = part
    return sub_windows.used(state) > 0
  end
  local steps = math.min(part - state.newest, #counts)
  for i = 1, #counts do counts[i] = counts[i + steps] or 0 end
  state.newest = part
  return false
end

function sub_windows.fits(state, quota, check)
  return sub_windows.used(state) + check.asked <= quota.limit
end

function sub_windows.take(state, quota, check)
  local newest = quota.parts + 1
  state.counts[newest] = state.counts[newest] + check.cost
end

function sub_windows.refund(state, quota, check)
  local left = check.cost
  for i = quota.parts + 1, 1, -1 do
    local taken = math.min(left, state.counts[i])
    state.counts[i] = state.counts[i] - taken
    left = left - taken
  end
end

function sub_windows.expires(state, quota)
  for i = quota.parts + 1, 1, -1 do
    if state.counts[i] > 0 then return (state.newest + i) * (quota.period / quota.parts) end
  end
  return 0
end

function sub_windows.keep_until(expires, quota)
  return math.max(expires, now + 2 * quota.period)
end

function sub_windows.counts_until(quota)
  return (sub_windows_part(quota) + quota.parts + 1) * (quota.period / quota.parts)
end

function sub_windows.with_used(used, quota)
  local state = sub_windows.absent(quota)
  state.counts[quota.parts + 1] = used
  return state
end

modules[6] = sub_windows
