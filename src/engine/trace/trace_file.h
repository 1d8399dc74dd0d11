// DLCP_TRACE: writes the last packets of one lane as a capture when the first of its connections
// fails, because the packets before a failure show its cause.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "datapath/trace/packet_ring.h"
#include "engine/host/log.h"
#include "wire/packet.h"

namespace dlcp::engine {

class TraceFile {
 public:
  // In `path`, %h is replaced by the host's name, and %p by the process ID, a hyphen and `number`,
  // which distinguishes lanes.
  // `lane` is the lane's name for the log.
  TraceFile(const std::string& path, std::size_t number, std::string lane,
            const wire::EndpointAddress& local);

  // The ring that the lane's datapath fills.
  const std::shared_ptr<datapath::PacketRing>& ring() const { return ring_; }
  // The first call writes the file and returns the log line. Callable from any thread.
  std::optional<LogLine> write();

 private:
  const std::string path_, lane_;
  const wire::EndpointAddress local_;
  const std::shared_ptr<datapath::PacketRing> ring_;
  std::atomic<bool> written_{false};
};

}  // namespace dlcp::engine
