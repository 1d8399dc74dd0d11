// What the core tells of its decisions to whoever keeps a trace: what no packet shows, such as that
// some are held for lost, and why a connection ended. Rare beside packets.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "util/time.h"

namespace dlcp::core {

struct Decision {
  Time at;
  std::uint64_t peer_token =
      0;                  // of the connection, as its packets are addressed; 0: not yet known
  std::string_view what;  // "holds a packet for lost, path"
  std::optional<std::uint64_t> value;
};

class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void on_decision(const Decision& decision) = 0;
};

}  // namespace dlcp::core
