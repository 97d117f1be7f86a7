-- Sliding log (4): every admission of one period. The only state that may be long, so it is read
-- and written in pieces: a head of 40 bytes, then 11 bytes per entry, oldest first. Entries before
-- `first` have expired, and are removed when they are the larger half. Twin: core::SlidingLog.
--
-- `entries` is nil while the log can be changed in place: then the only entry written is the one at
-- `newest`, with `added` on top of its previous weight.
local sliding_log = {}
local kLogHead, kLogEntry, kLogPiece = 40, 11, 16

local function log_entry_bytes(key, from, to)
  return redis.call('GETRANGE', key, kLogHead + kLogEntry * from, kLogHead + kLogEntry * to - 1)
end

local function log_read_entries(bytes)
  local entries = {}
  for at = 1, #bytes, kLogEntry do
    local stamp, weight = struct.unpack('<I7I4', bytes, at)
    entries[#entries + 1] = {stamp, weight}
  end
  return entries
end

function sliding_log.absent()
  return {first = 0, total = 0, count = 0, newest = 0, added = 0, entries = {}}
end

-- From all bytes.
function sliding_log.decode(bytes)
  local state = {added = 0}
  state.first, state.total, state.count, state.newest = struct.unpack('<I4I4I4I7', bytes, 22)
  state.entries = log_read_entries(string.sub(bytes, kLogHead + kLogEntry * state.first + 1))
  state.first = 0
  return state
end

function sliding_log.encode(state)
  local parts = {struct.pack('<I4I4I4I7', 0, state.total, #state.entries, state.newest)}
  for _, entry in ipairs(state.entries) do
    parts[#parts + 1] = struct.pack('<I7I4', entry[1], entry[2])
  end
  return table.concat(parts)
end

local function log_empty(state)
  state.first, state.total, state.count, state.newest, state.entries = 0, 0, 0, 0, {}
end

local function log_into_memory(state)
  if state.entries then return end
  local entries = log_read_entries(log_entry_bytes(state.key, state.first, state.count))
  if state.added > 0 then
    local last = entries[#entries]
    if last and last[1] == state.newest then
      last[2] = last[2] + state.added
    else
      entries[#entries + 1] = {state.newest, state.added}
    end
    state.added = 0
  end
  state.entries, state.first = entries, 0
end

local function log_forget_in_place(state, limit)
  if state.newest <= limit then return log_empty(state) end
  while state.first < state.count do
    local last = math.min(state.first + kLogPiece, state.count)
    for _, entry in ipairs(log_read_entries(log_entry_bytes(state.key, state.first, last))) do
      if entry[1] > limit then return end
      state.total = state.total - entry[2]
      state.first = state.first + 1
    end
  end
end

-- From its first bytes, to be changed in place; nil when it must be rewritten, because the clock
-- stepped back by more than a period. Expired entries are already dropped.
function sliding_log.decode_in_place(head, key, quota)
  local state = {key = key, added = 0}
  state.first, state.total, state.count, state.newest = struct.unpack('<I4I4I4I7', head, 22)
  if state.newest - now > quota.period then return nil end
  log_forget_in_place(state, now - quota.period)
  state.before = {first = state.first, total = state.total, count = state.count,
    newest = state.newest, peak = state.total}
  return state
end

local function log_forget_in_memory(state, limit)
  while state.entries[1] and state.entries[1][1] <= limit do
    state.total = state.total - table.remove(state.entries, 1)[2]
  end
end

function sliding_log.settle(state, quota)
  if state.total == 0 then return false end
  if state.entries then log_forget_in_memory(state, now - quota.period) end
  if state.total == 0 or state.newest - now <= quota.period then return false end
  -- the clock stepped back by more than a period: future entries are moved to now
  log_into_memory(state)
  local weight = 0
  while state.entries[1] and state.entries[#state.entries][1] >= now do
    weight = weight + table.remove(state.entries)[2]
  end
  state.entries[#state.entries + 1] = {now, weight}
  state.newest = now
  return true
end

function sliding_log.fits(state, quota, check) return state.total + check.asked <= quota.limit end

function sliding_log.take(state, quota, check)
  state.total = state.total + check.cost
  if state.before then state.before.peak = math.max(state.before.peak, state.total) end
  if state.entries then
    local last = state.entries[#state.entries]
    if last and last[1] >= now then
      last[2] = last[2] + check.cost
    else
      state.entries[#state.entries + 1] = {now, check.cost}
      state.newest = now
    end
    return
  end
  state.added = state.added + check.cost
  if state.newest < now then state.newest = now end
end

function sliding_log.refund(state, quota, check)
  if state.before then state.before.peak = math.huge end  -- the excerpt has all entries
  log_into_memory(state)
  local left = check.cost
  while left > 0 and state.entries[1] do
    local last = state.entries[#state.entries]
    local taken = math.min(left, last[2])
    last[2], state.total, left = last[2] - taken, state.total - taken, left - taken
    if last[2] == 0 then table.remove(state.entries) end
  end
  local last = state.entries[#state.entries]
  state.newest = last and last[1] or 0
end

function sliding_log.expires(state, quota)
  return state.total > 0 and state.newest + quota.period or 0
end

-- Renewed once per period, not with every request.
function sliding_log.keep_until(expires, quota) return expires + quota.period end

function sliding_log.used(state) return state.total end

function sliding_log.counts_until(quota) return now + quota.period end

function sliding_log.with_used(used)
  local state = sliding_log.absent()
  if used > 0 then
    state.total, state.newest, state.entries = used, now, {{now, used}}
  end
  return state
end

-- Writes the changes; `head` has the head with its TTL. Only for a log that is changed in place.
function sliding_log.write_in_place(key, head, state)
  local count = state.count
  local same_instant = state.before.newest == state.newest
  if state.added > 0 and not same_instant then count = count + 1 end
  if state.first > count / 2 then
    log_into_memory(state)
    redis.call('SET', key, head .. sliding_log.encode(state), 'KEEPTTL')
    return
  end
  if state.added > 0 and same_instant then
    local stamp, weight = struct.unpack('<I7I4', log_entry_bytes(key, count - 1, count))
    redis.call('SETRANGE', key, kLogHead + kLogEntry * (count - 1),
      struct.pack('<I7I4', stamp, weight + state.added))
  elseif state.added > 0 then
    redis.call('APPEND', key, struct.pack('<I7I4', state.newest, state.added))
  end
  redis.call('SETRANGE', key, 0,
    head .. struct.pack('<I4I4I4I7', state.first, state.total, count, state.newest))
end

-- The excerpt for the caller's replay: the previous state with the entries that must expire until
-- no more than `room` is left of the peak, and all others merged into one.
function sliding_log.excerpt(header, ttl, state, room)
  local before = state.before
  local to_leave = before.peak - room
  local pieces, taken, first = {}, 0, before.first
  while taken < to_leave and first < before.count do
    local last = math.min(first + kLogPiece, before.count)
    local bytes = log_entry_bytes(state.key, first, last)
    for _, entry in ipairs(log_read_entries(bytes)) do taken = taken + entry[2] end
    pieces[#pieces + 1] = bytes
    first = last
  end
  local count = first - before.first
  if before.total > taken then
    pieces[#pieces + 1] = struct.pack('<I7I4', before.newest, before.total - taken)
    count = count + 1
  end
  return struct.pack('<c15I6I4I4I4I7', header, ttl, 0, before.total, count, before.newest)
    .. table.concat(pieces)
end

modules[4] = sliding_log
