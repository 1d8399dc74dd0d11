// Further devices that direct exchange uses beside the one that NCCL has chosen
// (DLCP_COLLNET_RAILS): NCCL gives a host with one GPU a single one, however many it has.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/group_opening.h"
#include "nccl/comm.h"

namespace dlcp::nccl {

class Rails {
 public:
  // Listens on the devices behind `device`, in a circle, until there are `wanted` with it; fewer
  // where there are fewer, or one cannot be opened.
  Rails(Context& context, int device, std::uint32_t wanted);
  ~Rails();
  Rails(const Rails&) = delete;
  Rails& operator=(const Rails&) = delete;

  // For what the group is told of this rank, and for its set-up.
  void tell(engine::GroupWord& us) const;
  std::vector<engine::GroupRail> rails() const;

 private:
  struct Listening {
    engine::Port port;  // all lanes of the device
    std::unique_ptr<ListenComm> comm;
  };

  std::vector<Listening> listening_;
  engine::GroupWord::Places places_{};
};

}  // namespace dlcp::nccl
