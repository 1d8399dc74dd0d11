// Further devices that direct exchange uses in addition to the one that NCCL has chosen
// (DLCP_COLLNET_RAILS): NCCL assigns only one device to a host with one GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/group/group_opening.h"
#include "nccl/context/comm.h"

namespace dlcp::nccl {

class Rails {
 public:
  // Listens on the devices after `device`, wrapping around, until `wanted` devices are in use
  // including it. There are fewer if the host has fewer or one cannot be opened.
  Rails(Context& context, int device, std::uint32_t wanted);
  ~Rails();
  Rails(const Rails&) = delete;
  Rails& operator=(const Rails&) = delete;

  // Used for the description of this rank and for the set-up of the group.
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
