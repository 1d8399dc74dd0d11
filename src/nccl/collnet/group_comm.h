// The objects behind the pointers that NCCL holds of the collective plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "engine/group/group.h"
#include "engine/hub/hub_visit.h"
#include "nccl/collnet/reduction_calls.h"
#include "nccl/context/comm.h"
#include "nccl/net/rendezvous.h"
#include "nccl/switch/switch_group.h"

namespace dlcp::nccl {

struct CollectiveListenComm {
  CollectiveListenComm(Context& context_of_group, int device_number)
      : context(&context_of_group), device(device_number) {
    context->object_opened();
  }
  ~CollectiveListenComm() {
    if (listening != nullptr) close_listener(*listening);
    context->object_closed(false);
  }
  CollectiveListenComm(const CollectiveListenComm&) = delete;
  CollectiveListenComm& operator=(const CollectiveListenComm&) = delete;

  Context* const context;
  const int device;
  std::unique_ptr<ListenComm> listening;  // null: this rank does not take part
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
  std::unique_ptr<SwitchGroup> by_switch;  // used first if DLCP_COLLNET_SWITCH is set
  std::uint32_t loss_ppm = 0;              // agreed by the group
  std::deque<GroupRequest> requests;       // grows to the largest number outstanding at once
  engine::HubLeases leases;                // if there are hubs
  // For a call that NCCL must repeat: its amount of data was reported at the first attempt.
  std::optional<CallPart> part;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // of all calls
  std::uint64_t data = 0;   // the part of them that was data and not stale
};

}  // namespace dlcp::nccl
