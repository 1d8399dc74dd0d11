#include "cli/bench/payload.h"

#include <algorithm>
#include <cstring>

#include "catch.h"

using dlcp::cli::Payload;

namespace {

std::vector<std::byte> message(const Payload& payload, std::size_t size, std::uint64_t number) {
  std::vector<std::byte> bytes(size + 1);
  payload.fill(bytes.data());
  payload.mark(bytes.data(), number);
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("a message is what its number says, in any size and in any pieces") {
  for (const std::size_t size : {1u, 7u, 8u, 64u, 511u, 4096u, 4099u, 100'003u}) {
    const Payload payload(42, size);
    const auto bytes = message(payload, size, 9);
    CHECK(payload.check(bytes.data(), 9, 0, size).bytes == 0);
    for (std::size_t from = 0; from < size; from += 1024)
      CHECK(payload.check(bytes.data(), 9, from, std::min(size, from + 1024)).bytes == 0);
  }
}

TEST_CASE("one wrong byte is counted as one, wherever it is") {
  const std::size_t size = 10'000;
  const Payload payload(7, size);
  for (std::size_t at = 0; at < size; at += 13) {
    auto bytes = message(payload, size, 3);
    bytes[at] ^= std::byte{0x80};
    const auto wrong = payload.check(bytes.data(), 3, 0, size);
    CHECK(wrong.bytes == 1);
    CHECK(wrong.elements == 1);
  }
}

TEST_CASE("another message's bytes are noticed in every block of 512") {
  const std::size_t size = 64 * 1024;
  const Payload payload(7, size);
  const auto old = message(payload, size, 3);
  for (std::size_t at = 0; at < size; at += 512) {
    auto bytes = message(payload, size, 4);
    std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(at), 512,
                bytes.begin() + static_cast<std::ptrdiff_t>(at));
    CHECK(payload.check(bytes.data(), 4, 0, size).bytes > 0);
  }
}

TEST_CASE("swapped packets are noticed almost byte for byte") {
  const std::size_t size = 64 * 1024;
  const Payload payload(7, size);
  auto bytes = message(payload, size, 4);
  std::swap_ranges(bytes.begin(), bytes.begin() + 1408, bytes.begin() + 2816);
  CHECK(payload.check(bytes.data(), 4, 0, size).bytes > 2 * 1300);
}

TEST_CASE("flows of other ranks, channels and seeds carry other bytes") {
  const std::size_t size = 4096;
  const Payload mine(dlcp::cli::flow_key(1, 0, 1, 0), size);
  for (const auto key : {dlcp::cli::flow_key(2, 0, 1, 0), dlcp::cli::flow_key(1, 1, 0, 0),
                         dlcp::cli::flow_key(1, 0, 2, 0), dlcp::cli::flow_key(1, 0, 1, 1)}) {
    const auto bytes = message(Payload(key, size), size, 0);
    CHECK(mine.check(bytes.data(), 0, 0, size).bytes > size * 9 / 10);
  }
}
