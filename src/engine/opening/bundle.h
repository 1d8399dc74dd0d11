// One sendComm or recvComm of NCCL over one or more lanes: at both ends, message n uses member n
// modulo the number of members. Messages are therefore not divided, and packets need no extra
// fields. The order within a member is the protocol's; between members there is none, which
// suffices because NCCL tests each request separately. Used by one thread at a time, like a
// connection of NCCL.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "engine/lane/connections/connection.h"
#include "engine/lane/engine.h"
#include "util/result.h"

namespace dlcp::engine {

class Bundle {
 public:
  struct Member {
    std::shared_ptr<Engine> engine;
    Connection* connection = nullptr;
  };

  Bundle() = default;
  // Members in the order of their turns, which is the same at the peer.
  explicit Bundle(std::vector<Member> members);

  bool empty() const { return members_.empty(); }
  const std::vector<Member>& members() const { return members_; }
  bool sends() const { return members_.front().connection->sends; }

  // See Engine. The turn passes to the next member once a message was accepted. If one member
  // fails, the bundle fails.
  Result<Request*> send(const Memory& message, const core::Licence& licence = {});
  Result<Request*> receive(const Memory& buffer, const core::Licence& licence = {});
  void register_memory(const Memory& registered);
  Status register_gpu_memory(const datapath::GpuMemory& memory);
  Result<Request*> flush_gpu(const Memory& memory);
  void release_memory(const Memory& registered);
  bool close();

 private:
  core::Licence share_of(core::Licence licence) const;
  const Error* failure() const;
  Result<Request*> pass_on(Result<Request*> posted);

  std::vector<Member> members_;
  std::size_t turn_ = 0;
};

}  // namespace dlcp::engine
