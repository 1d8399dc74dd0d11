// Fixed secrets, so that a test runs the same each time.
#pragma once

#include "core/endpoint_types.h"

namespace dlcp::test {

inline core::Secrets secrets_of(std::uint64_t seed) {
  return {{seed, 1}, {seed, 2}, {}};
}

}  // namespace dlcp::test
