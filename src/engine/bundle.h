// One sendComm or recvComm of NCCL's, over one lane or over several: at both ends message n goes
// over member n modulo their number. So nothing is cut and no packet says more than before; within
// a member the order is the protocol's, between members there is none, and NCCL asks for each
// request by itself. Used by one thread at a time, as NCCL uses a connection.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "engine/connection.h"
#include "engine/engine.h"
#include "util/result.h"

namespace dlcp::engine {

class Bundle {
 public:
  struct Member {
    std::shared_ptr<Engine> engine;
    Connection* connection = nullptr;
  };

  Bundle() = default;
  // In the order of their turns, the same at the peer.
  explicit Bundle(std::vector<Member> members);

  bool empty() const { return members_.empty(); }
  const std::vector<Member>& members() const { return members_; }
  bool sends() const { return members_.front().connection->sends; }

  // See Engine. The turn passes on once a message has been taken. What one member has failed for,
  // all have.
  Result<Request*> send(const Memory& message, const core::Licence& licence = {});
  Result<Request*> receive(const Memory& buffer, const core::Licence& licence = {});
  void register_memory(const Memory& registered);
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
