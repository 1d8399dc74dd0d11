// A rank whose call ends with an exception, and what the other ranks get.
#include <chrono>
#include <cstdlib>
#include <new>

#include "switch_ranks.h"

namespace {

thread_local bool next_allocation_fails = false;

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = std::exchange(next_allocation_fails, false) ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

TEST_CASE("an exception in one rank's call ends the other ranks' calls") {
  using namespace dlcp::test;
  using namespace std::chrono_literals;
  Server server(2);
  Ranks ranks(std::vector<std::string>(2, server.name()));
  REQUIRE(ranks.connected());
  Integers integers(2, 1000, DataType::kInt32);
  void* requests[2] = {};
  const auto start = [&](std::size_t rank) {
    return collnet::all_reduce(
        ranks.members[rank].group, integers.inputs[rank].data(), integers.results[rank].data(),
        1000, static_cast<int>(DataType::kInt32), 0, nullptr, nullptr, &requests[rank]);
  };
  REQUIRE(start(1) == ResultCode::kSuccess);
  next_allocation_fails = true;
  CHECK(start(0) == ResultCode::kInternalError);
  CHECK_FALSE(next_allocation_fails);
  int done = 0;
  auto code = ResultCode::kSuccess;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (code == ResultCode::kSuccess && std::chrono::steady_clock::now() < end)
    code = collnet::test(requests[1], &done, nullptr);
  CHECK(code == ResultCode::kRemoteError);
}
