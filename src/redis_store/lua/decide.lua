-- Decides requests, each under one limit or several: all limits pass, or nothing is charged.
-- Handles any quota of the modules above. A request is admitted only if all usage of its keys,
-- charged under any quota, fits; only then a state adopts its quota.
--
-- KEYS     all keys of the requests, each once; those of sliding logs come last
-- ARGV[1]  the plan, packed (batch/plan.cpp):
--            I2 quotas, I2 requests, I2 keys before those of logs
--            per log key:  I4 the least room that a check leaves: limit minus cost
--            per quota:    c15 header of its states, I4 divisor, I7 I4 time to fill the bucket
--            per request:  I1 kind (0 take, 1 refund, 2 peek, 3 peek, 4 take as much as available),
--                          I2 checks, I4 times; of kind 4: the number of sharers
--            per check:    I2 key, I2 quota (0: only check whether the key is blocked), I4 cost,
--                          I4 what must fit, at least one, I7 I4 its refill time.
--                          Kind 4 has one check, takes up to its cost, and nothing when less than
--                          must fit is available
-- Returns  `now`; I4 per request, packed: how often it was admitted, of kind 4 how much was taken,
--          or 2^32 - 1 when these modules could not read a state; then the previous states, nil
--          for none. The caller replays the requests on them.
-- TTL      at least until the state is empty; renewed only when it is too short.
-- O(keys + checks * times admitted). Twins: src/core, through replay/key_replay.cpp.
local plan = ARGV[1]
local quota_count, request_count, plain_keys, at = struct.unpack('<I2I2I2', plan)
local log_room = {}
for i = plain_keys + 1, #KEYS do
  log_room[i], at = struct.unpack('<I4', plan, at)
end

local quotas = {}
for i = 1, quota_count do
  local header, divisor, whole, part
  header, divisor, whole, part, at = struct.unpack('<c15I4I7I4', plan, at)
  local quota = quota_of(header)
  quota.divisor, quota.fill_whole, quota.fill_part = divisor, whole, part
  quotas[i] = quota
end

local raw = {}
if plain_keys > 0 then raw = redis.call('MGET', unpack(KEYS, 1, plain_keys)) end
local entries = {}  -- by key: quota, module, state, ttl, exists, dirty

-- A log is read only as far as needed, unless its state is unusual.
local function read_log_entry(i, quota)
  local head = redis.call('GETRANGE', KEYS[i], 0, 39)
  if #head == 40 and string.byte(head) == 20
    and redis.call('STRLEN', KEYS[i]) == 40 + 11 * struct.unpack('<I4', head, 30) then
    local header, ttl = struct.unpack('<c15I6', head)
    local own = header == quota.header and quota or quota_of(header)
    local state = same_shape(own, quota) and modules[4].decode_in_place(head, KEYS[i], own)
    if state then
      if state.total > 0 then raw[i] = {header, ttl, state} end  -- the excerpt follows at the end
      return {quota = own, module = modules[4], state = state, ttl = ttl, exists = true}
    end
  end
  local bytes = #head > 0 and redis.call('GET', KEYS[i])
  raw[i] = bytes
  return read_entry(i, bytes, quota)
end

-- The state of a key for the reply. REQUIRES: it was not written yet.
local function state_before(i)
  local bytes = raw[i]
  if type(bytes) ~= 'table' then return bytes or false end
  return modules[4].excerpt(bytes[1], bytes[2], bytes[3], log_room[i])
end

local unreadable = {}
local function entry_of(i, quota)
  if unreadable[i] then return nil end
  if not entries[i] then
    if i > plain_keys then
      entries[i] = read_log_entry(i, quota)
    else
      entries[i] = read_entry(i, raw[i], quota)
    end
    if not entries[i] then unreadable[i] = true end
  end
  local entry = entries[i]
  -- for the script that has all modules
  if entry and not modules[3] and may_hold(entry, quota) then return nil end
  return entry
end

local function charge(check, units)
  local entry = entries[check.key]
  adopt(entry, check.quota)
  entry.module.take(entry.state, entry.quota, units)
  entry.dirty, entry.absent = true, false
end

-- Charges the checks of a request if all of them pass. Returns whether they do. A guard comes
-- first.
local function take(checks)
  for _, check in ipairs(checks) do
    if blocked[check.key] then return false end
    if check.quota and not fits(entries[check.key], check.quota, check) then return false end
  end
  for _, check in ipairs(checks) do
    if check.quota and check.cost > 0 then charge(check, check) end
  end
  return true
end

local function refund(checks)
  for _, check in ipairs(checks) do
    local entry = check.quota and check.cost > 0 and entries[check.key]
    if entry and not entry.absent then
      local quota = entry.quota
      add_bucket_numbers(quota)
      local most = quota.algorithm <= 1 and quota.capacity or check.cost
      entry.module.refund(entry.state, quota, cost_of(math.min(check.cost, most), quota))
      entry.dirty = true
    end
  end
end

-- Charges as much of a cost as is available. Returns the amount.
local function take_up_to(check, sharers)
  if blocked[check.key] then return 0 end
  local quota = check.quota
  add_bucket_numbers(quota)
  local available = remaining_of(entries[check.key], quota)
  local units = portion(available, check.asked, check.asked, check.cost, sharers)
  if units > 0 then charge(check, cost_of(units, quota)) end
  return units
end

local admitted = {}
for request = 1, request_count do
  local kind, check_count, times
  kind, check_count, times, at = struct.unpack('<I1I2I4', plan, at)
  local checks = {}
  local readable = true
  for n = 1, check_count do
    local check = {}
    local quota
    check.key, quota, check.cost, check.asked, check.need_whole, check.need_part, at =
      struct.unpack('<I2I2I4I4I7I4', plan, at)
    check.quota = quotas[quota]
    checks[n] = check
    -- a key with only a guard may hold a state of any kind
    if check.quota then
      if not entry_of(check.key, check.quota) then readable = false end
    elseif raw[check.key] and string.byte(raw[check.key]) == 1 then
      local ends = struct.unpack('<I7', raw[check.key], 2)
      if ends > now then blocked[check.key] = ends end
    end
  end
  local count = 0
  if not readable then
    count = 4294967295
  elseif kind == 0 then
    while count < times and take(checks) do count = count + 1 end
  elseif kind == 1 then
    refund(checks)
  elseif kind == 4 then
    count = take_up_to(checks[1], times)
  end
  admitted[request] = struct.pack('<I4', count)
end

local reply = {now, table.concat(admitted)}
for i = 1, #KEYS do reply[i + 2] = state_before(i) end

for i, entry in pairs(entries) do
  if entry.dirty then write_entry(KEYS[i], entry, blocked[i], 0) end
end

return reply
