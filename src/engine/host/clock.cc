#include "engine/host/clock.h"

#include <ctime>

namespace dlcp::engine {

Time steady_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return time_from_ns(static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
}

}  // namespace dlcp::engine
