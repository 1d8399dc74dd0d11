// The links, permissions and writes in progress of a simulated card (sim_placer.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "datapath/placement.h"
#include "datapath/sim/card/reliable_paths.h"
#include "datapath/sim/network/frame.h"

namespace dlcp::datapath::sim::card {

// The content of an introduction. `heard` is what the sender of it knows of its receiver.
struct Words {
  std::uint32_t link = 0;
  std::uint32_t classes = 0;  // one bit for each that has been widened
  std::uint32_t heard_link = 0;
  std::uint32_t heard_classes = 0;
  // Of reliable paths.
  std::array<std::uint32_t, ReliablePaths::kPathsMax> epochs{}, heard_epochs{};
};
static_assert(sizeof(Words) <= Introduction::kMaxBytes);
struct Link {
  HostIndex peer = 0;
  Words own;
  Words theirs;
  std::uint32_t version = 1;
};
struct Permit {
  LinkId link = LinkId::kNone;
  std::span<std::byte> memory;
  std::uint32_t key = 0;
  Time granted_at;
  bool granted = false;
  Time dies_at = kNever;  // the key is checked until then
  bool reported = false;  // as revoked
};
struct InProgress {
  Time done_at;
  PermissionId id = PermissionId::kNone;
  std::span<std::byte> to;
  std::vector<std::byte> payload;
  PlacedRun report;
};

}  // namespace dlcp::datapath::sim::card
