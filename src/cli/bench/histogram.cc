#include "cli/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

namespace dlcp::cli {
namespace {

constexpr int kSubBits = 7;
constexpr std::uint64_t kSub = std::uint64_t{1} << kSubBits;

// Values below 128 have a bucket each; above, each power of two has 128 of them.
std::size_t bucket_of(std::uint64_t value) {
  if (value < kSub) return value;
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
  return (static_cast<std::size_t>(shift + 1) << kSubBits) + ((value >> shift) - kSub);
}

std::uint64_t last_of(std::size_t bucket) {
  if (bucket < kSub) return bucket;
  const std::size_t shift = (bucket >> kSubBits) - 1;
  const std::uint64_t sub = (bucket & (kSub - 1)) + kSub;
  return ((sub + 1) << shift) - 1;
}

}  // namespace

void Histogram::add(std::int64_t ns) {
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket]++;
  count_++;
  max_ = std::max(max_, ns);
}

void Histogram::merge(const Histogram& other) {
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); i++)
    buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

std::int64_t Histogram::percentile(double share) const {
  const auto target = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); i++) {
    seen += buckets_[i];
    if (seen >= target && seen > 0) return std::min(static_cast<std::int64_t>(last_of(i)), max_);
  }
  return max_;
}

nlohmann::json Histogram::to_json() const {
  nlohmann::json pairs = nlohmann::json::array();
  for (std::size_t i = 0; i < buckets_.size(); i++) {
    if (buckets_[i] != 0) pairs.push_back({i, buckets_[i]});
  }
  return {{"max", max_}, {"buckets", pairs}};
}

Histogram Histogram::from_json(const nlohmann::json& json) {
  Histogram h;
  h.max_ = json.at("max").get<std::int64_t>();
  for (const auto& pair : json.at("buckets")) {
    const auto bucket = pair.at(0).get<std::size_t>();
    if (bucket >= (std::size_t{64} << kSubBits)) continue;
    if (bucket >= h.buckets_.size()) h.buckets_.resize(bucket + 1);
    h.buckets_[bucket] = pair.at(1).get<std::uint64_t>();
    h.count_ += h.buckets_[bucket];
  }
  return h;
}

}  // namespace dlcp::cli
