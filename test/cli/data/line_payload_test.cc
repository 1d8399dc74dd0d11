#include "catch.h"
#include "cli/data/payload.h"

using namespace dlcp::cli;

TEST_CASE("a line is accepted when its flag has arrived, and not before") {
  for (const auto& [flags, data] : {std::pair{LineFlags::kLl, Data::kRandom},
                                    {LineFlags::kLl128, Data::kRandom},
                                    {LineFlags::kLl128, Data::kBf16}}) {
    const Payload payload(5, 4096, data, flags);
    alignas(16) std::byte slot[4096] = {};
    Mismatch wrong;
    for (std::size_t line = 0; line < payload.lines(); line++)
      CHECK_FALSE(payload.take(slot, 7, line, wrong));
    payload.mark(slot, 7);
    for (std::size_t line = 0; line < payload.lines(); line++) {
      CHECK(payload.take(slot, 7, line, wrong));
      CHECK_FALSE(payload.take(slot, 8, line, wrong));  // flags grow with each use of a slot
    }
    CHECK(wrong.bytes == 0);
  }
}

TEST_CASE("data that do not match the flag are counted") {
  for (const auto flags : {LineFlags::kLl, LineFlags::kLl128}) {
    const Payload payload(5, 1024, Data::kRandom, flags);
    alignas(16) std::byte slot[1024];
    payload.mark(slot, 7);
    slot[line_bytes(flags)] ^= std::byte{1};
    Mismatch wrong;
    CHECK(payload.take(slot, 7, 0, wrong));
    CHECK(wrong.bytes == 0);
    CHECK(payload.take(slot, 7, 1, wrong));
    CHECK(wrong.bytes == 1);
  }
}

TEST_CASE("an LL line with one of its two flags is not accepted") {
  const Payload payload(5, 16, Data::kRandom, LineFlags::kLl);
  alignas(16) std::byte slot[16];
  payload.mark(slot, 7);
  slot[12] = std::byte{0};
  Mismatch wrong;
  CHECK_FALSE(payload.take(slot, 7, 0, wrong));
}
