// A call of an exchange in progress, as one member of the group sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/calls/loss_counts.h"
#include "collective/calls/transfer.h"
#include "collective/exchange/hub_call.h"
#include "collective/exchange/layout.h"

namespace dlcp::collective {

// A block that this member reduces.
struct OwnedBlock {
  std::uint32_t block = 0;
  std::uint32_t awaited = 0;   // contributions that have not arrived
  std::size_t bytes = 0;       // of real data, as far as the contributions state
  std::span<std::byte> slots;  // the contributions of the other ranks, one after another
  LossCounts lost;
};

struct RunningCall {
  std::uint64_t number = 0;
  Call call;              // on a hub, without memory
  std::size_t bytes = 0;  // of the whole call
  Layout layout;
  std::vector<OwnedBlock> owned;
  std::shared_ptr<SharedBudget> pool = nullptr;  // null if the call is exact
  std::size_t reduced = 0;                       // number of `owned` blocks reduced
  std::uint32_t results_awaited = 0;
  std::uint32_t contributions_out = 0;  // sent but not delivered
  // Messages on the results lane: results, or a rank's descriptions for hubs.
  std::uint32_t results_unposted = 0;
  std::uint32_t results_out = 0;  // sent but not delivered
  HubCall::Bytes announcement{};  // the description for hubs

  bool finished() const {
    return reduced == owned.size() && results_awaited == 0 && contributions_out == 0 &&
           results_unposted == 0;
  }
  bool knows_length() const { return call.real_bytes < bytes; }
};

}  // namespace dlcp::collective
