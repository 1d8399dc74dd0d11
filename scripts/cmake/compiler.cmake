# Warnings, sanitizers and the flags that all targets share, on the interface target dlcp_flags.
add_library(dlcp_flags INTERFACE)
target_compile_options(dlcp_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
# A newer compiler than those tested may have new warnings: they are errors for developers and CI, never for users.
if(DLCP_WERROR)
  target_compile_options(dlcp_flags INTERFACE -Werror)
endif()
target_include_directories(dlcp_flags INTERFACE ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(dlcp_flags INTERFACE DLCP_VERSION="${PROJECT_VERSION}")
if(DLCP_LIBRARY_CHECKS)
  target_compile_definitions(dlcp_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(DLCP_SANITIZE)
  target_compile_options(dlcp_flags INTERFACE -fsanitize=${DLCP_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(dlcp_flags INTERFACE -fsanitize=${DLCP_SANITIZE})
endif()
if(DLCP_BUILD_FUZZERS)
  target_compile_options(dlcp_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# dlcp_seldom_runs([LITTLE|ANYWHERE]): targets of this folder and those below are not optimised in sanitizer builds, which
# halves their compile time. LITTLE: other builds optimise little, which saves a quarter; for programs that end within
# seconds. ANYWHERE: no build optimises them, which saves a third; for code that is not shipped.
macro(dlcp_seldom_runs)
  if(DLCP_SANITIZE OR "${ARGN}" STREQUAL ANYWHERE)
    set(dlcp_folder_seldom_runs ON)
    add_compile_options(-O0)
  elseif("${ARGN}" STREQUAL LITTLE)
    set(dlcp_folder_seldom_runs ON)
    add_compile_options($<$<CONFIG:Release,RelWithDebInfo>:-O1>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      add_compile_options(-Wno-maybe-uninitialized)
    endif()
  endif()
endmacro()

# dlcp_quick_to_compile(TARGET): for tests, whose own code is not measured. Optimised builds use a lower optimisation level
# and no debug information for them. At that level GCC reports initialised variables as uninitialised.
function(dlcp_quick_to_compile target)
  get_directory_property(options COMPILE_OPTIONS)
  if(NOT DLCP_SANITIZE AND NOT "-O0" IN_LIST options)
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:-O1;-g0;-Wno-maybe-uninitialized>")
  endif()
endfunction()

# LLVM's linker takes a fraction of the time of GNU's. It cannot do GCC's link-time optimisation, and portable releases
# need GNU's handling of old symbol versions.
include(CheckLinkerFlag)
if(NOT DLCP_PORTABLE)
  check_linker_flag(CXX -fuse-ld=lld DLCP_HAS_LLD)
endif()
if(DLCP_HAS_LLD AND NOT DLCP_PORTABLE)
  target_link_options(dlcp_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:DLCP_LINKS_WHOLE>>>:-fuse-ld=lld>)
endif()

# dlcp_links_whole(TARGET): links the target as one unit (link-time optimisation), which saves 15% of the
# instructions per packet. The archives also contain ordinary code, so that tests link quickly.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND NOT DLCP_SANITIZE)
  set(optimised $<CONFIG:Release,RelWithDebInfo>)
  set(whole $<AND:${optimised},$<BOOL:$<TARGET_PROPERTY:DLCP_LINKS_WHOLE>>>)
  target_compile_options(dlcp_flags INTERFACE
    "$<$<AND:${optimised},$<BOOL:$<TARGET_PROPERTY:DLCP_ON_PACKET_PATH>>>:-flto=auto;-ffat-lto-objects>")
  target_link_options(dlcp_flags INTERFACE $<IF:${whole},-flto=auto,-fno-lto>)
endif()
function(dlcp_links_whole target)
  set_target_properties(${target} PROPERTIES DLCP_LINKS_WHOLE ON)
endfunction()

# Sources of one library compiled as one (CMake's unity builds) read their common headers once. The preset dev and
# clang-tidy compile each source separately, which detects a forgotten #include.
option(DLCP_UNITY "Compile several sources of a library as one" OFF)

# dlcp_unity(TARGET): does this for the target if the option is on. unity.cmake lists the sources that clash.
function(dlcp_unity target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  if(DLCP_UNITY AND count GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# dlcp_library(NAME SOURCES... [BATCHED...] LINK LIBS... [PACKET_PATH]): a static library of one layer. PACKET_PATH: its code
# runs for every packet. DLCP_UNITY compiles the other libraries in batches. On the packet path, batches cost 5 to 10% of
# the user time (measured with streams and rings of real packets). BATCHED are the sources of such a library that seldom
# run: set-up, reports, errors. They form the library NAME_batched, which is compiled like the others.
function(dlcp_library name)
  cmake_parse_arguments(arg "PACKET_PATH" "" "SOURCES;BATCHED;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES DLCP_ON_PACKET_PATH "${arg_PACKET_PATH}")
  target_link_libraries(${name} PUBLIC dlcp_flags ${arg_LINK})
  dlcp_precompiled(${name})
  if(DLCP_SANITIZE OR NOT arg_PACKET_PATH)
    dlcp_unity(${name})
  endif()
  if(arg_BATCHED)
    dlcp_library(${name}_batched SOURCES ${arg_BATCHED} LINK ${arg_LINK} ${name})
    target_link_libraries(${name} PUBLIC ${name}_batched)
  endif()
endfunction()
