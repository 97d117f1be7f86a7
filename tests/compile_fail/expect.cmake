# cmake -DCOMPILER= -DINCLUDE_DIR= -DSOURCE= -P expect.cmake: compiles SOURCE and compares the
# result with its first line.
file(STRINGS "${SOURCE}" first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE} does not start with '// expect: ...' but with '${first_line}'")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(
  COMMAND "${COMPILER}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I${INCLUDE_DIR}" "${SOURCE}"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)

if(expected STREQUAL "success")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the control does not compile:\n${output}")
  endif()
  return()
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, and must not")
endif()
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${SOURCE} fails without saying '${expected}':\n${output}")
endif()
