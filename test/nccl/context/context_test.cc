// The lifetime of a communicator's context.
#include "nccl/context/context.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "catch.h"

namespace {

std::atomic<void*> watched = nullptr;
std::atomic<int> frees = 0;  // how often `watched` was freed

void release(void* memory) {
  if (memory != nullptr && memory == watched) {
    ++frees;
    watched = nullptr;                                       // the address may be reused now
    std::memset(memory, 0xdd, sizeof(dlcp::nccl::Context));  // its further use is noticed
  }
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

TEST_CASE("a context that is finished before its last object is closed is freed with that object") {
  auto* const context =
      new dlcp::nccl::Context(dlcp::engine::Registry::of_process(), 1, dlcp::nccl::kUndefined,
                              dlcp::nccl::Context::Lifetime::kUntilFinalize);
  watched = context;
  frees = 0;
  context->object_opened();
  context->object_opened();
  context->finish();
  context->object_closed(false);
  CHECK(frees == 0);
  context->object_closed(false);
  CHECK(frees == 1);
}

TEST_CASE("a context whose objects are closed is freed when it is finished") {
  auto* const context =
      new dlcp::nccl::Context(dlcp::engine::Registry::of_process(), 1, dlcp::nccl::kUndefined,
                              dlcp::nccl::Context::Lifetime::kUntilFinalize);
  watched = context;
  frees = 0;
  context->object_opened();
  context->object_closed(false);
  CHECK(frees == 0);
  context->finish();
  CHECK(frees == 1);
}

TEST_CASE("a thread that ends while another one closes its last object frees its context once") {
  for (int round = 0; round < 2000; ++round) {
    auto* const context =
        new dlcp::nccl::Context(dlcp::engine::Registry::of_process(), 0, dlcp::nccl::kUndefined,
                                dlcp::nccl::Context::Lifetime::kThread);
    watched = context;
    frees = 0;
    context->object_opened();
    std::atomic<int> there = 0;
    const auto meet = [&] {
      for (++there; there < 2;)
        std::this_thread::yield();
    };
    std::thread closes([&] {
      meet();
      context->object_closed(false);
    });
    meet();
    context->finish();
    closes.join();
    REQUIRE(frees == 1);
  }
}

TEST_CASE("a context of a single group is freed with its last object, without finish") {
  auto* const context =
      new dlcp::nccl::Context(dlcp::engine::Registry::of_process(), 1, dlcp::nccl::kUndefined,
                              dlcp::nccl::Context::Lifetime::kUntilClosed);
  watched = context;
  frees = 0;
  context->object_opened();
  context->object_opened();
  context->object_closed(true);
  CHECK(frees == 0);
  context->object_closed(false);
  CHECK(frees == 1);
}
