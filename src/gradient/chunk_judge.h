// Decides which chunks of licensed messages are protected and which may be dropped. Magnitudes come
// from an object that can read the memory of the chunks; the comparison within the stream is made
// here.
//
// Switches may drop droppable packets even if no packet would have been lost otherwise. If a
// licence allows less than the usual share (direct exchange: about P), only that share is marked
// droppable; otherwise switches would drop packets that must be retransmitted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "dlcp/traffic_class.h"
#include "gradient/magnitude.h"
#include "gradient/magnitude_quantile.h"

namespace dlcp::gradient {

// Reads payloads in place of mean_magnitude(): those in memory that the processor cannot read, or
// that hardware reads anyway.
class WorthSource {
 public:
  virtual ~WorthSource() = default;
  // Returns what mean_magnitude() would return, including kPriceless.
  virtual float magnitude(ElementType type, std::span<const std::byte> payload) const = 0;
};

class ChunkJudge {
 public:
  // `source` null: host memory, read here.
  explicit ChunkJudge(const LevelShares& shares = {}, const WorthSource* source = nullptr)
      : shares_(shares), judge_(judge_for(1)), source_(source) {}

  Worth judge(ElementType type, std::span<const std::byte> payload) {
    return judge_.judge(magnitude(type, payload));
  }
  // Marks at most the share `share_max` of the packets that are judged here as anything but
  // protected.
  Worth judge_within(double share_max, ElementType type, std::span<const std::byte> payload) {
    const double usual = shares_.bulk_droppable + shares_.bulk_middle;
    if (share_max >= usual) return judge(type, payload);
    if (!capped_ || capped_->share != share_max)
      capped_ = Capped{share_max, 0, judge_for(share_max / usual)};
    capped_->allowed = std::min(capped_->allowed + share_max, kAllowedMax);
    const Worth worth = capped_->judge.judge(magnitude(type, payload));
    if (worth == Worth::kProtected) return worth;
    if (capped_->allowed < 1) return Worth::kProtected;
    capped_->allowed -= 1;
    return worth;
  }

 private:
  // Limit in packets: the allowance that large packets have left unused is not all spent at once.
  static constexpr double kAllowedMax = 4;
  struct Capped {
    double share = 0;
    double allowed = 0;  // packets that may be marked now
    WorthJudge judge;
  };

  WorthJudge judge_for(double part) const {
    return WorthJudge(static_cast<float>(shares_.bulk_droppable * part),
                      static_cast<float>(shares_.bulk_middle * part));
  }
  float magnitude(ElementType type, std::span<const std::byte> payload) const {
    return source_ == nullptr ? mean_magnitude(type, payload) : source_->magnitude(type, payload);
  }

  LevelShares shares_;
  WorthJudge judge_;  // for all licensed messages of the stream
  std::optional<Capped> capped_;
  const WorthSource* source_;
};

}  // namespace dlcp::gradient
