# Functions that define our targets. Sources are globbed: a new file needs no edit here, and
# tools/check_tests_built.py fails if a test is in no target.

# Our own flags: never PUBLIC, never exported. With sanitizers GCC 12 reports the coroutine frames of
# Asio, which have their own new and delete, as a mismatch.
function(penstock_developer_flags target)
  if(PENSTOCK_DEVELOPER)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
      $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
      # unity builds: GCC treats the included sources as headers
      $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>)
  endif()
endfunction()

# The .cpp files of this folder and below: tests_out has *_test.cpp, sources_out the rest. Sub-folders
# with their own CMakeLists.txt are excluded.
function(penstock_find_sources sources_out tests_out)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB separate "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(file IN LISTS separate)
    cmake_path(GET file PARENT_PATH folder)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(NOT PENSTOCK_SHARED_STORE)
    list(FILTER sources EXCLUDE REGEX "/(shared|async)_[a-z_]+\\.cpp$")
    list(FILTER tests EXCLUDE REGEX "_redis_test\\.cpp$")
  endif()
  set(${sources_out} ${sources} PARENT_SCOPE)
  set(${tests_out} ${tests} PARENT_SCOPE)
endfunction()

# penstock_embed_texts(header NAMESPACE penstock::a FILES a/*.lua): writes a generated header with each file
# as a string constant: fixed_window.lua becomes kFixedWindow. With TREE instead of FILES: all files below
# that folder, as the array kFiles of their relative paths and texts.
function(penstock_embed_texts header)
  cmake_parse_arguments(PARSE_ARGV 1 embed "" "NAMESPACE;FILES;TREE" "")
  set(constants)
  set(source "${embed_FILES}${embed_TREE}")
  if(embed_TREE)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${embed_TREE}/*")
    list(FILTER files INCLUDE REGEX "\\.(html|css|js|svg)$")
    string(APPEND constants "struct File {\n  std::string_view path;\n  std::string_view text;\n};\n"
      "inline constexpr File kFiles[] = {\n")
  else()
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${embed_FILES}")
  endif()
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    if(embed_TREE)
      file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}/${embed_TREE}" "${file}")
      file(READ "${file}" text)
      string(APPEND constants "{\"${path}\", R\"text(${text})text\"},\n")
      continue()
    endif()
    get_filename_component(name "${file}" NAME_WE)
    string(REPLACE "_" ";" words "${name}")
    set(constant "k")
    foreach(word IN LISTS words)
      string(SUBSTRING "${word}" 0 1 first)
      string(SUBSTRING "${word}" 1 -1 rest)
      string(TOUPPER "${first}" first)
      string(APPEND constant "${first}${rest}")
    endforeach()
    file(READ "${file}" text)
    string(APPEND constants "inline constexpr std::string_view ${constant} = R\"text(${text})text\";\n")
  endforeach()
  if(embed_TREE)
    string(APPEND constants "};\n")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/${header}" CONTENT [[// Written by CMake from @source@.
#pragma once

#include <string_view>

namespace @embed_NAMESPACE@ {

@constants@
}  // namespace @embed_NAMESPACE@
]] @ONLY)
endfunction()

# penstock_layer(core USES base [LIBRARIES ...]): this folder as the object library penstock_core, and
# the tests beside its sources as penstock_core_test; those that start a redis-server (*_redis_test.cpp)
# as penstock_core_redis_test. A folder with headers only has no object library. DAEMON: part of the
# programs, not of the installed library.
function(penstock_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "DAEMON" "" "USES;LIBRARIES")
  penstock_find_sources(sources tests)
  if(sources)
    add_library(penstock_${name} OBJECT ${sources})
    target_include_directories(penstock_${name} PRIVATE
      "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
    penstock_developer_flags(penstock_${name})
    foreach(used IN LISTS layer_USES)
      if(TARGET penstock_${used})
        target_link_libraries(penstock_${name} PUBLIC penstock_${used})
      endif()
    endforeach()
    target_link_libraries(penstock_${name} PRIVATE ${layer_LIBRARIES})
    if(layer_DAEMON)
      set_property(GLOBAL APPEND PROPERTY PENSTOCK_DAEMON_LAYERS penstock_${name})
      set_property(GLOBAL APPEND PROPERTY PENSTOCK_DAEMON_LIBRARIES ${layer_LIBRARIES})
    else()
      set_property(GLOBAL APPEND PROPERTY PENSTOCK_LAYERS penstock_${name})
    endif()
  endif()
  set(test_libraries)
  if(layer_DAEMON)
    set(test_libraries penstock_server)
  endif()
  set(redis_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_redis_test\\.cpp$")
  list(FILTER redis_tests INCLUDE REGEX "_redis_test\\.cpp$")
  penstock_tests(penstock_${name}_test SOURCES ${tests} LIBRARIES ${test_libraries})
  penstock_tests(penstock_${name}_redis_test SOURCES ${redis_tests} LABEL redis
    LIBRARIES ${test_libraries})
endfunction()

# The installable library, from all layers.
function(penstock_combine_layers)
  get_property(layers GLOBAL PROPERTY PENSTOCK_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(penstock ${objects})
  add_library(penstock::penstock ALIAS penstock)
  target_compile_features(penstock PUBLIC cxx_std_20)
  target_include_directories(penstock PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  if(PENSTOCK_SHARED_STORE)
    target_link_libraries(penstock PRIVATE
      ${PENSTOCK_HIREDIS} OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
  endif()
  set_target_properties(penstock PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# The layers above the library, for the programs and the tests.
function(penstock_combine_daemon)
  get_property(layers GLOBAL PROPERTY PENSTOCK_DAEMON_LAYERS)
  get_property(libraries GLOBAL PROPERTY PENSTOCK_DAEMON_LIBRARIES)
  list(REMOVE_DUPLICATES libraries)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(penstock_server STATIC ${objects})
  target_link_libraries(penstock_server PUBLIC penstock ${libraries})
  set_target_properties(penstock_server PROPERTIES LINKER_LANGUAGE CXX)
endfunction()

# `make test` spends most of its time compiling tests. -O0 and a precompiled header reduce it to a third;
# what the tests call is optimised. ccache does not cache compilations with a precompiled header, so it is
# one or the other. With precompiled headers GCC 12 emits false warnings about std::string from system
# headers; they are disabled here. Shipped code does not use them.
function(penstock_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    return()
  endif()
  if(NOT TARGET penstock_test_headers)
    # An executable like its users: the setting for position independence must match.
    file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cpp" "")
    add_executable(penstock_test_headers EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/test_headers.cpp")
    target_link_libraries(penstock_test_headers PRIVATE GTest::gtest_main Threads::Threads)
    target_compile_options(penstock_test_headers PRIVATE $<$<CONFIG:Release>:-O0>)
    target_precompile_headers(penstock_test_headers PRIVATE
      <gtest/gtest.h> <algorithm> <chrono> <functional> <map> <memory> <optional> <string> <thread>
      <vector>)
    penstock_developer_flags(penstock_test_headers)
  endif()
  target_precompile_headers(${target} REUSE_FROM penstock_test_headers)
  target_compile_options(${target} PRIVATE
    -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endfunction()

# penstock_tests(name SOURCES ... [LABEL unit] [LIBRARIES ...] [OPTIMISED]): one test program, one ctest
# entry. Tests may include headers of src/; they link the installed library. OPTIMISED: the test computes
# for a minute, and is compiled like the library.
function(penstock_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 tests "OPTIMISED" "LABEL" "SOURCES;LIBRARIES")
  if(NOT PENSTOCK_BUILD_TESTS OR NOT tests_SOURCES)
    return()
  endif()
  if(NOT tests_LABEL)
    set(tests_LABEL unit)
  endif()
  add_executable(${target} ${tests_SOURCES})
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${target} PRIVATE PENSTOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE
    ${tests_LIBRARIES} $<TARGET_NAME_IF_EXISTS:penstock_test_support> penstock
    GTest::gtest_main rapidcheck_gtest Boost::headers Threads::Threads)
  penstock_developer_flags(${target})
  if(NOT tests_OPTIMISED)
    penstock_compile_quickly(${target})
  endif()
  if(tests_LABEL MATCHES "^(unit|sockets)$")
    add_dependencies(penstock_unit_tests ${target})
  endif()
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS ${tests_LABEL} TIMEOUT 600)
endfunction()

# penstock_program(target NAME name [LIBRARIES ...]): the program of this folder, build/<preset>/name. All
# sources but main.cpp are a library, so that tests can link them.
function(penstock_program target)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "NAME" "LIBRARIES")
  penstock_find_sources(sources tests)
  set(main "${CMAKE_CURRENT_SOURCE_DIR}/main.cpp")
  list(REMOVE_ITEM sources "${main}")
  add_library(${target}_commands STATIC ${sources})
  target_include_directories(${target}_commands PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target}_commands
    PUBLIC ${program_LIBRARIES} penstock_command_line
    PRIVATE nlohmann_json::nlohmann_json Boost::headers Threads::Threads)
  penstock_developer_flags(${target}_commands)

  add_executable(${target} "${main}")
  target_link_libraries(${target} PRIVATE ${target}_commands)
  penstock_developer_flags(${target})
  file(RELATIVE_PATH to_libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${program_NAME}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    INSTALL_RPATH "$<$<BOOL:${BUILD_SHARED_LIBS}>:$ORIGIN/${to_libraries}>")
  penstock_tests(${target}_test SOURCES ${tests}
    LIBRARIES ${target}_commands nlohmann_json::nlohmann_json)
endfunction()
