-- a * b / c as quotient and remainder, exactly, where the product may exceed 2^53, the largest
-- exact Lua integer. REQUIRES: integers below 2^53, c < 2^45, quotient < 2^53.
local function multiply_divide(a, b, c)
  local product = a * b
  if product < 9007199254740992 then
    local rest = math.fmod(product, c)
    return (product - rest) / c, rest
  end
  -- one 7-bit digit of a at a time, the highest first
  local digits = {}
  while a > 0 do
    local digit = math.fmod(a, 128)
    digits[#digits + 1] = digit
    a = (a - digit) / 128
  end
  local b_rest = math.fmod(b, c)
  local b_quotient = (b - b_rest) / c
  local quotient, rest = 0, 0
  for i = #digits, 1, -1 do
    local shifted = rest * 128 + digits[i] * b_rest
    rest = math.fmod(shifted, c)
    quotient = quotient * 128 + digits[i] * b_quotient + (shifted - rest) / c
  end
  return quotient, rest
end
