// Runs a test body under many seeds and names the seed that failed. DLCP_SEED=n runs only that
// seed; DLCP_SEEDS=n runs n seeds instead of the default number, of which sanitized builds run a
// quarter; DLCP_FIRST_SEED=n begins with seed n (scripts/seeds).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>

#include "catch.h"
#include "sanitized.h"

namespace dlcp::test {

constexpr std::uint64_t kSeedsShare = kSanitized ? 4 : 1;

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

template <class Story>
void for_each_seed(std::uint64_t count, Story&& story) {
  std::uint64_t first = number_from_environment("DLCP_FIRST_SEED", 1);
  std::uint64_t last =
      first - 1 + number_from_environment("DLCP_SEEDS", (count + kSeedsShare - 1) / kSeedsShare);
  if (std::getenv("DLCP_SEED") != nullptr) first = last = number_from_environment("DLCP_SEED", 1);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    INFO("replay with DLCP_SEED=" << seed);
    try {
      story(seed);
    } catch (const std::exception& violation) {
      FAIL(violation.what());
    }
  }
}

}  // namespace dlcp::test
