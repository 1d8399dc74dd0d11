// One call of an exchange that is under way, as one member of the group sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/hub_call.h"
#include "collective/layout.h"
#include "collective/loss_counts.h"
#include "collective/transfer.h"

namespace dlcp::collective {

// A block that this member reduces.
struct OwnedBlock {
  std::uint32_t block = 0;
  std::uint32_t awaited = 0;   // contributions
  std::size_t bytes = 0;       // of real data, as far as the contributions tell
  std::span<std::byte> slots;  // of the other ranks, one after another
  LossCounts lost;
};

struct RunningCall {
  std::uint64_t number = 0;
  Call call;              // of a hub: without memory
  std::size_t bytes = 0;  // of all of it
  Layout layout;
  std::vector<OwnedBlock> owned;
  std::shared_ptr<SharedBudget> pool = nullptr;  // exact
  std::size_t reduced = 0;                       // of them
  std::uint32_t results_awaited = 0;
  std::uint32_t contributions_out = 0;  // not delivered
  // Messages on the results' way: results, or what a rank tells hubs.
  std::uint32_t results_unposted = 0;
  std::uint32_t results_out = 0;  // not delivered
  HubCall::Bytes told{};          // to hubs

  bool finished() const {
    return reduced == owned.size() && results_awaited == 0 && contributions_out == 0 &&
           results_unposted == 0;
  }
  bool knows_length() const { return call.real_bytes < bytes; }
};

}  // namespace dlcp::collective
