// The objects behind the pointers that NCCL holds of the collective plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "engine/group.h"
#include "engine/hub_visit.h"
#include "nccl/comm.h"
#include "nccl/reduction_calls.h"
#include "nccl/switch_group.h"

namespace dlcp::nccl {

struct CollectiveListenComm {
  Context* context = nullptr;
  int device = 0;
  std::unique_ptr<ListenComm> listening;  // null: this rank takes no part
};

struct GroupComm;

// One all-reduce.
struct GroupRequest {
  GroupComm* group = nullptr;
  std::uint64_t call = 0;
  std::size_t bytes = 0;
  bool free = false;
};

// A collComm.
struct GroupComm {
  Context* context = nullptr;
  std::unique_ptr<engine::Group> group;
  std::unique_ptr<SwitchGroup> by_switch;  // before it, where DLCP_COLLNET_SWITCH is set
  std::uint32_t loss_ppm = 0;              // that the group has agreed on
  std::deque<GroupRequest> requests;       // grows to what has been outstanding at once
  engine::HubLeases leases;                // where there are hubs
  // A call that is to be started again: how much of it is data was told with its first try.
  std::optional<CallPart> part;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // of them all, and
  std::uint64_t data = 0;   // what of that was not stale
};

}  // namespace dlcp::nccl
