// Blocks that one rank of a group has reduced so far, as other threads read them.
#pragma once

#include <atomic>
#include <cstdint>

namespace dlcp::engine {

struct BlockTally {
  std::atomic<std::uint64_t> whole{0};
  std::atomic<std::uint64_t> partial{0};  // parts of contributions were lost under a licence
};

}  // namespace dlcp::engine
