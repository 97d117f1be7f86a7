# `cmake --install`: the library, its headers, the programs, and the files for find_package(penstock) and
# pkg-config. Components are the packages of PenstockPackage.cmake.
include(CMakePackageConfigHelpers)

set(penstock_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/penstock")

install(TARGETS penstock EXPORT penstockTargets COMPONENT penstock-dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/penstock" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT penstock-dev FILES_MATCHING PATTERN "*.hpp")
if(TARGET penstock_cli)
  install(TARGETS penstock_cli penstock_bench_cli COMPONENT penstock)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documents)

install(EXPORT penstockTargets NAMESPACE penstock:: DESTINATION "${penstock_cmake_dir}"
  COMPONENT penstock-dev)
configure_package_config_file(cmake/penstockConfig.cmake.in
  "${PROJECT_BINARY_DIR}/penstockConfig.cmake" INSTALL_DESTINATION "${penstock_cmake_dir}")
# Below 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/penstockConfig.cmake"
  "${PROJECT_BINARY_DIR}/penstockConfigVersion.cmake" DESTINATION "${penstock_cmake_dir}"
  COMPONENT penstock-dev)

# Relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH penstock_pc_prefix
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" penstock_pc_prefix "${penstock_pc_prefix}")
# A static library needs its dependencies at link time, a shared one does not.
set(penstock_pc_requires "Requires: hiredis openssl")
if(NOT PENSTOCK_SHARED_STORE)
  set(penstock_pc_requires "Requires:")
elseif(BUILD_SHARED_LIBS)
  set(penstock_pc_requires "Requires.private: hiredis openssl")
endif()
configure_file(cmake/penstock.pc.in "${PROJECT_BINARY_DIR}/penstock.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/penstock.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT penstock-dev)
