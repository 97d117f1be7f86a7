-- All overrides that have not expired.
--
-- KEYS[1]  the overrides; see override.lua
-- ARGV[1]  the version that the caller knows; 0 for none
-- Returns  {now, version}, and unless the version is known: 1, then the values; version 0: none
-- TTL      nothing is written
-- O(overrides), or O(1) when the version is known. Twin: src/store/operator_table.cpp.
local version = redis.call('HGET', KEYS[1], '') or '0'
if version == ARGV[1] then return {now, version} end
local list = {now, version, 1}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local value = fields[i + 1]
  if fields[i] ~= '' and #value >= 16 and struct.unpack('<I7', value, 8) > now then
    list[#list + 1] = value
  end
end
return list
