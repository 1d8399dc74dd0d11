# Release artefacts run on systems whose C library is as old as glibc 2.28 (RHEL 8, Debian 10, Ubuntu 18.10 and
# whatever is newer), although they are built with a new one: src/portable stands in for newer symbols.
option(DLCP_PORTABLE "Link so that glibc 2.28 is enough (x86_64, aarch64; GCC)" OFF)
if(DLCP_PORTABLE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "DLCP_PORTABLE needs GCC; the compiler is ${CMAKE_CXX_COMPILER_ID}. "
          "Give -DCMAKE_CXX_COMPILER=g++, or leave the option off.")
endif()

if(DLCP_PORTABLE)
  # Objects, not archives: they must stand on the link line whether or not anything has asked for them yet. As
  # ordinary code, since link-time optimisation does not see what assembler text defines.
  add_library(dlcp_old_functions OBJECT ${PROJECT_SOURCE_DIR}/src/portable/old_functions.c)
  add_library(dlcp_old_start OBJECT ${PROJECT_SOURCE_DIR}/src/portable/old_start.c)
  foreach(part dlcp_old_functions dlcp_old_start)
    target_compile_options(${part} PRIVATE -O2 -fno-lto -fexceptions -Wall -Wextra)
  endforeach()
endif()

# dlcp_portable(TARGET): makes a plugin or an executable portable where the option is on.
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
  # Stripped by the linker, before it makes the build id of what is left: two builds are equal wherever they ran.
  target_link_options(${target} PRIVATE -s)
  # Old systems keep threads and dlopen in libraries of their own; new ones have empty ones of these names.
  target_link_libraries(${target} PRIVATE m -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
                        -Wl,--pop-state)
endfunction()
