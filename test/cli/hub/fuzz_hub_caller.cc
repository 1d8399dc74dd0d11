// A hub's connection handler with arbitrary bytes in pieces of any size, and with forged messages
// from a client that has the token: no client is admitted without the token, and admitted values
// are in range.
#include <algorithm>

#include "cli/hub/admission/caller.h"
#include "fuzz_input.h"

using namespace dlcp;
using namespace dlcp::cli;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

constexpr engine::HubChallenge kChallenge{11, 12};

void check_join(const Caller& caller) {
  const engine::HubJoin& join = caller.join();
  require(caller.tenant() != nullptr, "an admitted client belongs to a tenant");
  require(join.us.rank < join.us.ranks && join.hub < join.us.hubs, "rank and hub are the group's");
  require(join.us.rails == 1, "a group with hubs has one rail");
  require(join.us.granule >= 1024 && join.us.block_bytes_max >= join.us.granule, "blocks are cut");
}

// Whether the client was admitted.
bool hear(std::span<const std::byte> bytes, FuzzInput& in, const Tenants& tenants) {
  Caller caller(kChallenge);
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), 1 + in.below(300));
    const auto state = caller.on_bytes(bytes.first(piece), tenants);
    bytes = bytes.subspan(piece);
    if (state == Caller::State::kAsks) {
      check_join(caller);
      (void)caller.answer({});
    }
    if (state == Caller::State::kRefused)
      require(!caller.refusal().empty(), "a refusal has a message");
  }
  return caller.tenant() != nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Tenants kTenants =
      std::move(parse_tenants("00000000000000010000000000000002", "FILE")).value();
  FuzzInput in(data, size);
  const auto raw = std::as_bytes(std::span(data, size));
  require(!hear(raw, in, kTenants), "no client is admitted without the token");
  (void)engine::decode_hub_challenge(raw);
  (void)engine::decode_hub_answer(raw, kChallenge, {});
  // As a client with the token would send it.
  engine::HubJoin join;
  join.us.ranks = in.take<std::uint32_t>() % 1000;
  join.us.rank = in.take<std::uint32_t>() % 1000;
  join.us.hubs = in.take<std::uint16_t>();
  join.us.rails = static_cast<std::uint8_t>(1 + in.below(engine::GroupWord::kRailsMax));
  join.us.granule = in.take<std::uint32_t>();
  join.us.block_bytes_max = in.take<std::uint32_t>();
  join.us.loss_ppm = in.take<std::uint32_t>();
  join.hub = in.take<std::uint16_t>();
  join.us.staging = in.take<std::uint64_t>();
  join.peer.address.size = in.take<std::uint8_t>();
  engine::HubFrame frame = encode(join, kChallenge, {1, 2});
  (void)hear(frame, in, kTenants);
  frame[in.below(frame.size())] ^= std::byte(1 + in.below(255));
  require(!hear(frame, in, kTenants), "no client is admitted with a changed message");
  return 0;
}
