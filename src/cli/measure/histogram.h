// Durations, counted in buckets whose width is 1/128 of their value: percentiles over all ranks are
// exact to 0.8%, whatever the number of samples. The maximum is exact.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace dlcp::cli {

class Histogram {
 public:
  void add(std::int64_t ns);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  std::int64_t max() const { return max_; }
  // The smallest duration that at least `share` (0..1] of the samples do not exceed, in
  // nanoseconds, rounded up to its bucket's end; 0 when empty.
  std::int64_t percentile(double share) const;

  friend void to_json(nlohmann::json& json, const Histogram& h);
  friend void from_json(const nlohmann::json& json, Histogram& h);

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace dlcp::cli
