-- Reads what the nodes published with their heartbeats (heartbeat.lua), and asks them to publish
-- details.
--
-- KEYS[1]  the nodes: a sorted set of their names by last heartbeat
-- KEYS[2]  a hash: a summary of each node
-- KEYS[3]  a hash: the history of each node
-- KEYS[4]  exists while a node reads them
-- ARGV[1]  how long the nodes publish details, in milliseconds
-- ARGV[2]  1: with histories
-- ARGV[3]  of how many nodes at most
-- Returns  {summaries, histories}
-- TTL      of KEYS[4]: ARGV[1]
-- O(nodes). Twin: src/wire/http/admin/fleet/fleet_view.hpp.
redis.call('SET', KEYS[4], '1', 'PX', ARGV[1])
local nodes = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[3]) - 1)
local function texts_of(key)
  local texts = {}
  if #nodes == 0 then return texts end
  for _, text in ipairs(redis.call('HMGET', key, unpack(nodes))) do
    if text then texts[#texts + 1] = text end
  end
  return texts
end
return {texts_of(KEYS[2]), ARGV[2] == '1' and texts_of(KEYS[3]) or {}}
