-- One step of a reservation. Its hash has s, the state, a letter; c, the claimant; b, the start,
-- and d, the expiry, in microseconds; k, how long it is kept once settled, in milliseconds; e, the
-- estimate; a, the actual cost; u, the part of it that could not be charged; h, the held units; t,
-- the settler, and w, the state before it settled; y, which process let it expire; g, 1 when the
-- units of an expired one were refunded. A settler that did not receive the reply repeats the step
-- and receives the state before it.
--
-- KEYS[1]  the reservation
-- KEYS[2]  the open ones: a sorted set of ids by expiry, in microseconds
-- ARGV[1]  begin, confirm, drop, commit, cancel, expire, refunded or note
-- ARGV[2]  the id
-- ARGV[3…] of begin: claimant, how long it is pending in milliseconds, how many may be open
--          of confirm: claimant, estimate, lifetime in microseconds, k, held units
--          of drop: claimant; of cancel and expire: settler; of note: what could not be charged
--          of commit: settler, actual cost, how long after its expiry the units count as refunded,
--          in microseconds
-- Returns  {1 when done, 0 when not, -1 when too many are open; now; then the previous values of
--          state, b, d, e, a, u, h, c}
-- TTL      while pending ARGV[4]; while open until k after its expiry; then k. Of the open ones: a
--          day after the last expiry
-- O(log open ones). Twin: src/store/reservation_table.cpp.
local kDay = 86400000
local record, open = KEYS[1], KEYS[2]
local what, id = ARGV[1], ARGV[2]
local before = redis.call('HMGET', record, 's', 'b', 'd', 'e', 'a', 'u', 'h', 'c', 'k', 't',
  'w', 'g', 'y')
local state = before[1]
local done = 0

local function settle(letter)
  redis.call('HSET', record, 's', letter, 't', ARGV[3], 'w', state)
  redis.call('PEXPIREAT', record, string.format('%.0f', math.ceil(now / 1000) + tonumber(before[9])))
  redis.call('ZREM', open, id)
  done = 1
end

local settled_as = {commit = 'c', cancel = 'x'}
local is_repeated = state and state == settled_as[what] and ARGV[3] ~= '' and before[10] == ARGV[3]
-- also when it was committed since: its held units are yet to be refunded
local is_expired_again = what == 'expire' and ARGV[3] ~= '' and before[13] == ARGV[3]
local is_mine = state == 'p' and before[8] == ARGV[3]
if is_repeated then
  before[1] = before[11]
  done = 1
elseif is_expired_again then
  before[1] = 'o'
  done = 1
elseif what == 'begin' and not state then
  if redis.call('ZCARD', open) >= tonumber(ARGV[5]) then
    done = -1
  else
    redis.call('HSET', record, 's', 'p', 'c', ARGV[3], 'b', string.format('%.0f', now))
    redis.call('PEXPIREAT', record, string.format('%.0f', math.ceil(now / 1000) + tonumber(ARGV[4])))
    done = 1
  end
elseif what == 'confirm' and is_mine then
  local over = now + tonumber(ARGV[5])
  redis.call('HSET', record, 's', 'o', 'e', ARGV[4], 'd', string.format('%.0f', over), 'k', ARGV[6],
    'h', ARGV[7])
  local forgotten_ms = math.ceil(over / 1000) + tonumber(ARGV[6])
  redis.call('PEXPIREAT', record, string.format('%.0f', forgotten_ms))
  redis.call('ZADD', open, string.format('%.0f', over), id)
  local last = redis.call('ZRANGE', open, -1, -1, 'WITHSCORES')
  redis.call('PEXPIREAT', open, string.format('%.0f', math.ceil(tonumber(last[2]) / 1000) + kDay))
  done = 1
elseif what == 'drop' and is_mine then
  redis.call('DEL', record)
  done = 1
elseif what == 'commit' and (state == 'o' or (state == 'e' and
    (before[12] or now - tonumber(before[3]) >= tonumber(ARGV[5])))) then
  settle('c')
  redis.call('HSET', record, 'a', ARGV[4])
  if state == 'o' and tonumber(ARGV[4]) <= tonumber(before[4]) then
    redis.call('HSET', record, 'u', '0')
  end
elseif what == 'cancel' and state == 'o' then
  settle('x')
elseif what == 'expire' and state == 'o' and tonumber(before[3]) <= now then
  settle('e')
  redis.call('HSET', record, 'd', string.format('%.0f', now), 'y', ARGV[3])
elseif what == 'refunded' and state == 'e' then
  redis.call('HSET', record, 'g', '1')
  done = 1
elseif what == 'expire' and state ~= 'o' then
  redis.call('ZREM', open, id)  -- deleted before it was settled
elseif what == 'note' and state == 'c' then
  redis.call('HSET', record, 'u', ARGV[3])
  done = 1
end
return {done, now, before[1], before[2], before[3], before[4], before[5], before[6], before[7],
  before[8]}
