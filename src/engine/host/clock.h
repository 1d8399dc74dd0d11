// The only clock of the project outside tests.
#pragma once

#include "util/time.h"

namespace dlcp::engine {

// Reads CLOCK_MONOTONIC.
Time steady_now();

}  // namespace dlcp::engine
