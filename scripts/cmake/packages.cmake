# deb, rpm and tarball (CPack); scripts/package runs it for each with the folders of that system.
set(CPACK_PACKAGE_NAME nccl-dlcp)
set(CPACK_PACKAGE_VENDOR "DLCP")
set(CPACK_PACKAGE_CONTACT "DLCP maintainers <maintainers@dlcp.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "NCCL network plugin over UDP and RoCEv2 for Ethernet that loses packets")
set(CPACK_PACKAGE_DESCRIPTION "The plugin delivers every byte, unless you allow gradient sums to lose data. Tools: dlcp checks
hosts and the paths between them, dlcp-hub adds for all-reduces on other hosts, dlcp-switch configures switches.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_PACKAGE_FILE_NAME nccl-dlcp-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)  # for others CPack asks dpkg
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libibverbs1, ibverbs-providers, libssl3t64 | libssl3")
# Updates the loader's cache, so that a plugin in its path is found at once.
file(WRITE ${CMAKE_BINARY_DIR}/install/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/install/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PACKAGE_AUTOREQ OFF)
set(CPACK_RPM_PACKAGE_REQUIRES "glibc >= 2.28")
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/scripts/packaging/ldconfig)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/scripts/packaging/ldconfig)
# Files are stripped already, perhaps for another architecture; links by build id would be files outside the list;
# the build's host and time would make each package different.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __os_install_post %{nil}
%define _build_id_links none
%define _buildhost dlcp
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define source_date_epoch_from_changelog 0")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/scripts/cmake/same_times.cmake)
# Folders that exist on every system. Those of optional shells belong to the package, so that they are removed with it.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/man/man5
  /usr/lib/systemd /usr/lib/systemd/system)
include(CPack)
