# The Debian packages that `make package` builds: penstock has the programs and the service, penstock-dev the library.
# Files for packages only are excluded from `cmake --install`, which may use any prefix.
set(packaging "${PROJECT_SOURCE_DIR}/packaging")

# Files that only the package installs.
function(penstock_package_files destination)
  install(FILES ${ARGN} DESTINATION "${destination}" COMPONENT penstock EXCLUDE_FROM_ALL)
endfunction()

# Debian policy: compressed manuals and changelogs, without a timestamp.
function(penstock_compress source target)
  execute_process(COMMAND gzip -9nc "${source}" OUTPUT_FILE "${target}" COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
endfunction()

set(made "${PROJECT_BINARY_DIR}/packaging")
file(MAKE_DIRECTORY "${made}")
penstock_compress("${packaging}/penstock.1" "${made}/penstock.1.gz")
penstock_compress("${packaging}/penstock-bench.1" "${made}/penstock-bench.1.gz")
penstock_compress("${packaging}/debian/changelog" "${made}/changelog.gz")

# It may contain passwords: postinst changes its group to that of the service.
install(FILES "${packaging}/penstock.yaml" DESTINATION /etc/penstock PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ
  COMPONENT penstock EXCLUDE_FROM_ALL)
penstock_package_files(/lib/systemd/system "${packaging}/penstock.service")
install(FILES "${packaging}/penstock.sysusers" DESTINATION lib/sysusers.d RENAME penstock.conf
  COMPONENT penstock EXCLUDE_FROM_ALL)
# Written by the build of the program: apps/penstock/CMakeLists.txt.
set(completions "${PROJECT_BINARY_DIR}/completions")
penstock_package_files(share/bash-completion/completions "${completions}/penstock")
penstock_package_files(share/zsh/vendor-completions "${completions}/_penstock")
penstock_package_files(share/fish/vendor_completions.d "${completions}/penstock.fish")
penstock_package_files(share/man/man1 "${made}/penstock.1.gz" "${made}/penstock-bench.1.gz")
penstock_package_files(share/doc/penstock/docs "${PROJECT_SOURCE_DIR}/CHANGELOG.md")
# Not the records of decisions: they are about the source.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION share/doc/penstock
  COMPONENT penstock EXCLUDE_FROM_ALL PATTERN adr EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION share/doc/penstock
  COMPONENT penstock EXCLUDE_FROM_ALL
  PATTERN "*.cpp" EXCLUDE PATTERN CMakeLists.txt EXCLUDE)
file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
install(FILES ${programs} DESTINATION share/doc/penstock-dev/examples
  COMPONENT penstock-dev EXCLUDE_FROM_ALL)
foreach(package IN ITEMS penstock penstock-dev)
  install(FILES "${packaging}/debian/copyright" "${made}/changelog.gz"
    DESTINATION share/doc/${package} COMPONENT ${package} EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME penstock)
set(CPACK_PACKAGE_VENDOR Penstock)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rate limiter for proxies and services")
set(CPACK_PACKAGE_CONTACT "Penstock maintainers <maintainers@penstock.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL penstock penstock-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PENSTOCK_PACKAGE_NAME penstock)
set(CPACK_DEBIAN_PENSTOCK_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PENSTOCK_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PENSTOCK_PACKAGE_DEPENDS "systemd-standalone-sysusers | systemd")
set(CPACK_DEBIAN_PENSTOCK_PACKAGE_SUGGESTS "redis-server (>= 5:7)")
set(CPACK_DEBIAN_PENSTOCK_PACKAGE_CONTROL_EXTRA "${packaging}/debian/conffiles" "${packaging}/debian/postinst"
  "${packaging}/debian/prerm" "${packaging}/debian/postrm")
set(CPACK_DEBIAN_PENSTOCK_DESCRIPTION
"A rate limit service for proxies and applications, over HTTP, gRPC (Envoy)
and the Redis protocol, and a gateway. Rules are YAML; usage is kept in the
process or shared in Redis, with a defined behaviour when Redis is down.
Includes penstock-bench, its load generator.")

set(CPACK_DEBIAN_PENSTOCK-DEV_PACKAGE_NAME penstock-dev)
set(CPACK_DEBIAN_PENSTOCK-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PENSTOCK-DEV_PACKAGE_DEPENDS "libboost1.81-dev, libhiredis-dev, libssl-dev")
set(CPACK_DEBIAN_PENSTOCK-DEV_DESCRIPTION
"Headers and the static library of Penstock, for C++20 programs that enforce
limits in the process, or shared through Redis.")

include(CPack)
