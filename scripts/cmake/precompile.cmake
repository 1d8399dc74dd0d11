# Headers that most files include and that change only with the system, compiled once for many targets: reading them for
# each file takes a third of a build's time. Not in the release build, which so detects a forgotten #include.
option(DLCP_PRECOMPILE "Compile the libraries' headers once for all targets" OFF)

# dlcp_precompiled(TARGET): libraries, tests and dlcp_seldom_runs() targets are compiled differently, so each kind has its
# own precompiled headers, which belong to an otherwise empty target.
function(dlcp_precompiled target)
  if(NOT DLCP_PRECOMPILE)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  set(headers <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <deque> <fstream> <functional> <map> <memory>
      <optional> <set> <span> <sstream> <string> <string_view> <thread> <utility> <vector> <fmt/format.h>)
  set(libraries dlcp_flags dlcp_format)
  set(provider headers_of_libraries)
  if(type STREQUAL EXECUTABLE)
    set(provider headers_of_tests)
    list(APPEND headers ${PROJECT_SOURCE_DIR}/test/catch.h)
    list(APPEND libraries test_main)
  endif()
  if(dlcp_folder_seldom_runs)
    string(APPEND provider _that_seldom_run)
    find_package(nlohmann_json REQUIRED)
    list(APPEND headers <nlohmann/json.hpp>)
    list(APPEND libraries nlohmann_json::nlohmann_json)
  endif()
  if(NOT TARGET ${provider})
    set(source ${CMAKE_BINARY_DIR}/generated/${provider}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "extern const int nothing_but_headers;\n")
    if(type STREQUAL EXECUTABLE)
      add_executable(${provider} ${source})
    else()
      add_library(${provider} STATIC ${source})
    endif()
    set_property(TARGET ${provider} PROPERTY LINK_LIBRARIES)  # the property's default is that of the first folder
    target_link_libraries(${provider} PRIVATE ${libraries})
    target_precompile_headers(${provider} PRIVATE ${headers})
    # They contain file names and times of this build folder: a cache must not use them for another folder.
    set_target_properties(${provider} PROPERTIES CXX_COMPILER_LAUNCHER "")
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      target_compile_options(${provider} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${provider})
  # GCC then warns about the standard library's own code, because it no longer treats it as a system header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict
      -Wno-maybe-uninitialized)
  endif()
endfunction()
