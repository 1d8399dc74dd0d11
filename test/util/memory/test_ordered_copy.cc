// The ordered copy: exact for every length and alignment, no write beyond the end, and stores in
// the order that a poller of LL and LL128 flags relies on. The hidden tag [.speed] compares its
// speed with memcpy's.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "catch.h"
#include "util/memory/ordered_copy.h"
#include "util/rng.h"

namespace {

using dlcp::OrderedCopyForm;

std::vector<OrderedCopyForm> supported_forms() {
  std::vector<OrderedCopyForm> forms;
  const auto all = dlcp::ordered_copy_forms();
  for (std::size_t i = 0; i < all.count; ++i)
    if (all.first[i].supported) forms.push_back(all.first[i]);
  return forms;
}

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  dlcp::Rng rng(seed);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(rng.next());
  return bytes;
}

}  // namespace

TEST_CASE("every length and alignment arrives exactly and nothing beyond is written") {
  const auto source = random_bytes(1200, 1);
  for (const auto& form : supported_forms()) {
    INFO(form.name);
    for (std::size_t shift = 0; shift < 33; shift += (shift < 17 ? 1 : 5)) {
      for (std::size_t bytes = 0; bytes < 1100; bytes += (bytes < 400 ? 1 : 37)) {
        std::vector<std::byte> target(1300, std::byte{0x5a});
        form.copy(target.data() + shift, source.data() + shift / 2, bytes);
        const bool exact =
            std::memcmp(target.data() + shift, source.data() + shift / 2, bytes) == 0;
        bool untouched = true;
        for (std::size_t i = 0; i < target.size(); ++i) {
          untouched =
              untouched && ((i >= shift && i < shift + bytes) || target[i] == std::byte{0x5a});
        }
        if (!exact || !untouched) FAIL("length " << bytes << ", shift " << shift);
      }
    }
  }
}

TEST_CASE("a copy that ends at the last byte of a page does not touch the next one") {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + page, page, PROT_NONE) == 0);
  const auto source = random_bytes(page, 2);
  for (const auto& form : supported_forms()) {
    INFO(form.name);
    for (std::size_t bytes = 1; bytes < 700; ++bytes) {
      form.copy(memory + page - bytes, source.data(), bytes);
      CHECK(std::memcmp(memory + page - bytes, source.data(), bytes) == 0);
    }
  }
  munmap(memory, 2 * page);
}

TEST_CASE("a poller that sees a line's flag sees the complete line") {
  constexpr std::size_t kLines = 64;
  constexpr std::uint64_t kRounds = 3000;
  for (const auto& form : supported_forms()) {
    INFO(form.name);
    // Each word of a line holds the round's number; the last word is the flag.
    alignas(128) static std::uint64_t target[kLines * 16];
    std::memset(target, 0, sizeof target);
    std::vector<std::uint64_t> source(kLines * 16);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> broken{0};
    std::thread poller([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (std::size_t line = 0; line < kLines; ++line) {
          const volatile std::uint64_t* words = target + 16 * line;
          const std::uint64_t flag = __atomic_load_n(target + 16 * line + 15, __ATOMIC_ACQUIRE);
          for (std::size_t i = 0; i < 15; ++i)
            if (words[i] < flag)  // the next rounds may have begun
              broken.fetch_add(1);
        }
      }
    });
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      std::fill(source.begin(), source.end(), round);
      form.copy(reinterpret_cast<std::byte*>(target),
                reinterpret_cast<const std::byte*>(source.data()), sizeof target);
    }
    stop.store(true);
    poller.join();
    CHECK(broken.load() == 0);
  }
}

TEST_CASE("an LL pair of data and flag is never seen torn") {
  constexpr std::size_t kPairs = 512;
  for (const auto& form : supported_forms()) {
    INFO(form.name);
    alignas(128) static std::uint64_t target[kPairs];
    std::memset(target, 0, sizeof target);
    std::vector<std::uint64_t> source(kPairs);
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> torn{0};
    std::thread poller([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (auto& pair : target) {
          const std::uint64_t seen = __atomic_load_n(&pair, __ATOMIC_RELAXED);
          if ((seen >> 32) != (seen & 0xffffffffu)) torn.fetch_add(1);
        }
      }
    });
    for (std::uint64_t round = 1; round <= 5000; ++round) {
      std::fill(source.begin(), source.end(), round << 32 | round);
      form.copy(reinterpret_cast<std::byte*>(target),
                reinterpret_cast<const std::byte*>(source.data()), sizeof target);
    }
    stop.store(true);
    poller.join();
    CHECK(torn.load() == 0);
  }
}

TEST_CASE("speed against memcpy", "[.speed]") {
  const auto source = random_bytes(1 << 20, 3);
  std::vector<std::byte> target(1 << 22);
  const auto measure = [&](auto&& copy, std::size_t bytes) {
    double best = 1e9;
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      std::size_t at = 0;
      for (int i = 0; i < 500; ++i) {
        copy(target.data() + at, source.data() + at % (1 << 19), bytes);
        at = (at + bytes) % ((1 << 22) - 16384);
      }
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      best = std::min(best, spent.count());
    }
    return static_cast<double>(bytes) * 500 / best / 1e9;
  };
  for (const std::size_t bytes : {1024u, 1408u, 4096u, 8192u}) {
    const double plain =
        measure([](void* t, const void* s, std::size_t n) { std::memcpy(t, s, n); }, bytes);
    for (const auto& form : supported_forms()) {
      WARN(bytes << " B " << form.name << " " << measure(form.copy, bytes) << " GB/s, memcpy "
                 << plain);
    }
  }
}
