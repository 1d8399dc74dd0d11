// Decisions of the core that no packet shows, for example that a packet counts as lost, or why a
// connection ended. Reported to a trace, if there is one. Decisions are rare compared with packets.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "util/time.h"

namespace dlcp::core {

struct Decision {
  Time at;
  std::uint64_t peer_token = 0;  // destination token of the connection's packets; 0: not known
  std::string_view what;         // for example "holds a packet for lost on path"
  std::optional<std::uint64_t> value;
};

class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void on_decision(const Decision& decision) = 0;
};

}  // namespace dlcp::core
