// The tenants of a hub: each has a token, and shares of the hub's memory, rate and jobs.
//
// The token file has a line for each tenant: a name, 32 hexadecimal digits, and limits, in any
// order ("team-a 0123...ef memory=4G gbit=20 jobs=8"). A line with only digits is the tenant
// "default". Text after # is a comment. Without a token file there is one tenant, named
// "everybody", to which all ranks belong.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"
#include "util/time.h"
#include "wire/keys.h"

namespace dlcp::cli {

// A rate limit: bytes per second with a short burst.
class RateShare {
 public:
  // 0: no limit.
  void set(double bytes_per_second) { rate_ = bytes_per_second; }
  // False if earlier bytes have used up the rate until now.
  bool has_credit(Time now);
  // The credit may become negative, so that pieces may be larger than any credit.
  void spend(std::uint64_t bytes);

 private:
  std::mutex mutex_;
  double rate_ = 0;
  double credit_ = 0;
  Time at_{};
};

struct Tenant {
  std::string name;
  wire::Key token;  // zero: not required
  std::uint64_t memory_max = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t jobs_max = std::numeric_limits<std::uint32_t>::max();
  RateShare rate;  // of contributions

  // Current and past use; only the front accesses it.
  std::uint64_t memory = 0;
  std::uint32_t jobs = 0;
  std::uint64_t jobs_served = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t calls = 0;  // of jobs that have ended
  std::uint64_t bytes = 0;
};

using Tenants = std::vector<std::unique_ptr<Tenant>>;
// `path`: for messages. Error messages never repeat a token.
Result<Tenants> parse_tenants(std::string_view text, const std::string& path);
Tenants everybody();

}  // namespace dlcp::cli
