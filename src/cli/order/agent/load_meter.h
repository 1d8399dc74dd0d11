// The arrival rate of a load, from the kernel's receive timestamps. The beginning is ignored,
// because token buckets and queues on the path deliver it faster than the links' lasting rate.
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
  // nullopt if too few packets arrived.
  std::optional<double> gb_per_s() const;

 private:
  struct Arrival {
    std::int64_t at_ns;
    std::size_t bytes;
  };
  std::vector<Arrival> arrivals_;
};

}  // namespace dlcp::cli
