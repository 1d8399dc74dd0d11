// Memory for messages without a posted receive, for all connections of the device together.
#pragma once

#include <cstddef>

namespace dlcp::core {

// A connection may use as much as is free: half of the pool if it is alone, an equal share if many
// connections need memory.
struct UnpostedPool {
  std::size_t bytes_max = 0;
  std::size_t bytes_used = 0;
};

}  // namespace dlcp::core
