// How long a process may wait for its peers when a communicator ends. Peers that have ended, too,
// or that are alive but slow, are the reason for both limits.
#pragma once

#include "util/time.h"

namespace dlcp::engine {

struct Linger {
  Duration closes{0};        // until peers have confirmed that they received everything
  Duration copies{0};        // until messages have arrived whose sends were done when copied
  bool resets_only = false;  // `closes` is for resets that have to leave
};

}  // namespace dlcp::engine
