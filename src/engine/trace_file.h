// DLCP_TRACE: the last packets of one lane, written as a capture when the first of its connections
// fails, as what went before is what tells why.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "datapath/trace/packet_ring.h"
#include "engine/log.h"
#include "wire/packet.h"

namespace dlcp::engine {

class TraceFile {
 public:
  // `path`: %p stands for the process id, a hyphen and `number`, which tells lanes apart. `lane`:
  // its name, for the log.
  TraceFile(const std::string& path, std::size_t number, std::string lane,
            const wire::EndpointAddress& local);

  // What the lane's datapath fills.
  const std::shared_ptr<datapath::PacketRing>& ring() const { return ring_; }
  // The first call writes; what to say of it. May be called by any thread.
  std::optional<LogLine> write();

 private:
  const std::string path_, lane_;
  const wire::EndpointAddress local_;
  const std::shared_ptr<datapath::PacketRing> ring_;
  std::atomic<bool> written_{false};
};

}  // namespace dlcp::engine
