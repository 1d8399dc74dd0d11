# Release artefacts run on systems with a C library as old as glibc 2.28 (RHEL 8, Debian 10, Ubuntu 18.10 and
# newer), although they are built with a newer one: src/portable replaces newer symbols.
option(DLCP_PORTABLE "Link so that glibc 2.28 is sufficient (x86_64, aarch64; GCC)" OFF)
if(DLCP_PORTABLE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "DLCP_PORTABLE needs GCC; the compiler is ${CMAKE_CXX_COMPILER_ID}. "
          "Give -DCMAKE_CXX_COMPILER=g++, or leave the option off.")
endif()

if(DLCP_PORTABLE)
  # Objects, not archives: they must be on the link line even if nothing has referenced them yet. As ordinary code,
  # because link-time optimisation ignores definitions in assembler text.
  add_library(dlcp_old_functions OBJECT ${PROJECT_SOURCE_DIR}/src/portable/old_functions.c)
  add_library(dlcp_old_start OBJECT ${PROJECT_SOURCE_DIR}/src/portable/old_start.c)
  foreach(part dlcp_old_functions dlcp_old_start)
    target_compile_options(${part} PRIVATE -O2 -fno-lto -fexceptions -Wall -Wextra)
  endforeach()
endif()

# dlcp_portable(TARGET): makes a plugin or an executable portable if the option is on.
function(dlcp_portable target)
  if(NOT DLCP_PORTABLE)
    return()
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:dlcp_old_functions>)
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL EXECUTABLE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:dlcp_old_start>)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  # Stripped by the linker before it computes the build id of the rest: two builds are equal wherever they ran.
  target_link_options(${target} PRIVATE -s)
  # Old systems have threads and dlopen in separate libraries; new ones have empty libraries of these names.
  target_link_libraries(${target} PRIVATE m -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
                        -Wl,--pop-state)
endfunction()
