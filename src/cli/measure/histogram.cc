#include "cli/measure/histogram.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "util/statistics/log_buckets.h"

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

void to_json(nlohmann::json& json, const Histogram& h) {
  json = {{"max", h.max_}, {"count", h.count_}, {"buckets", h.buckets_}};
}

void from_json(const nlohmann::json& json, Histogram& h) {
  json.at("max").get_to(h.max_);
  json.at("count").get_to(h.count_);
  json.at("buckets").get_to(h.buckets_);
}

}  // namespace dlcp::cli
