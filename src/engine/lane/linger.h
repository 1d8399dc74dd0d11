// How long the end of a communicator may wait for peers.
#pragma once

#include "core/endpoint_types.h"
#include "util/time.h"

namespace dlcp::engine {

struct Linger {
  core::ContextId context = 0;
  Duration closes{0};        // until peers have confirmed that they received everything
  Duration copies{0};        // before that, until copied messages of the context have arrived
  bool resets_only = false;  // `closes` is for resets that have to leave
};

}  // namespace dlcp::engine
