#include "cli/bench/histogram.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "util/log_buckets.h"

namespace dlcp::cli {
namespace {

using Buckets = LogBuckets<7>;

}  // namespace

void Histogram::add(std::int64_t ns) {
  const std::size_t bucket =
      Buckets::index(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
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
    if (seen >= target && seen > 0)
      return std::min(static_cast<std::int64_t>(Buckets::last(i)), max_);
  }
  return max_;
}

nlohmann::json Histogram::to_json() const {
  nlohmann::json pairs = nlohmann::json::array();
  for (std::size_t i = 0; i < buckets_.size(); i++)
    if (buckets_[i] != 0) pairs.push_back({i, buckets_[i]});
  return {{"max", max_}, {"buckets", pairs}};
}

Histogram Histogram::from_json(const nlohmann::json& json) {
  Histogram h;
  h.max_ = json.at("max").get<std::int64_t>();
  for (const auto& pair : json.at("buckets")) {
    const auto bucket = pair.at(0).get<std::size_t>();
    if (bucket >= Buckets::count(64)) continue;
    if (bucket >= h.buckets_.size()) h.buckets_.resize(bucket + 1);
    h.buckets_[bucket] = pair.at(1).get<std::uint64_t>();
    h.count_ += h.buckets_[bucket];
  }
  return h;
}

}  // namespace dlcp::cli
