# dlcp_fuzz(NAME SOURCES... LINK LIBS...): one fuzz target for a parser.
#
# A source defines LLVMFuzzerTestOneInput and aborts, throws or triggers a sanitizer on an error.
# It may also define `std::vector<std::string> fuzz_seeds()` (declared in fuzz_input.h): valid initial
# inputs.
#
# With -DDLCP_BUILD_FUZZERS=ON (Clang; preset `asan`) it becomes a libFuzzer binary, which ctest runs
# for a short time. For longer:
#   build/asan/bin/NAME -max_total_time=600 CORPUS_DIR
# Without it, the same sources and replay.cc form an ordinary test, which runs a fixed sequence of
# random inputs for a second or two, or the files named on the command line (for example a crash that
# libFuzzer has found).
set(DLCP_FUZZ_DIR ${CMAKE_CURRENT_LIST_DIR})
if(NOT DLCP_BUILD_FUZZERS)
  add_library(fuzz_replay OBJECT ${DLCP_FUZZ_DIR}/replay.cc)
  target_link_libraries(fuzz_replay PRIVATE dlcp_flags)
endif()

function(dlcp_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(DLCP_BUILD_FUZZERS)
    add_executable(${name} ${arg_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${name} COMMAND ${name} -runs=20000 -max_total_time=20 -max_len=4096)
  else()
    add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:fuzz_replay>)
    add_test(NAME ${name} COMMAND ${name})
  endif()
  target_include_directories(${name} PRIVATE ${DLCP_FUZZ_DIR})
  target_link_libraries(${name} PRIVATE dlcp_flags ${arg_LINK})
  dlcp_clockless(${name})
  set_tests_properties(${name} PROPERTIES LABELS "fuzz;clockless")
endfunction()
