-- a * b / c as quotient and remainder, exactly, where the product may leave the 2^53 that Lua can
-- count. REQUIRES: whole numbers below 2^53, c < 2^45, quotient < 2^53.
local function multiply_divide(a, b, c)
  local product = a * b
  if product < 9007199254740992 then
    local rest = math.fmod(product, c)
    return (product - rest) / c, rest
  end
  -- digit by digit of a, the highest first, 7 bits each
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
