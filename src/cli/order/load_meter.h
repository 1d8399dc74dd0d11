// The rate at which a load arrives, by the kernel's times of arrival. The beginning does not count:
// it comes out of the token buckets and queues on the way, faster than links carry on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dlcp::cli {

class LoadMeter {
 public:
  void clear() { arrivals_.clear(); }
  void add(std::int64_t at_ns, std::size_t bytes) { arrivals_.push_back({at_ns, bytes}); }

  double bytes() const;
  std::int64_t last_ns() const { return arrivals_.empty() ? 0 : arrivals_.back().at_ns; }
  // nullopt where too little arrived to tell.
  std::optional<double> gb_per_s() const;

 private:
  struct Arrival {
    std::int64_t at_ns;
    std::size_t bytes;
  };
  std::vector<Arrival> arrivals_;
};

}  // namespace dlcp::cli
