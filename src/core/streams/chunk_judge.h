// What the chunks of licensed messages are worth. Their magnitudes come from whoever can read the
// memory that they lie in; which of them are small is a question of the stream, and stays here.
//
// What is marked droppable may be dropped where nothing would have been lost. A licence that allows
// less than the usual share (direct exchange: about P) therefore has no more than that marked, or
// switches would drop what must be sent again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "dlcp/traffic_class.h"
#include "gradient/magnitude_quantile.h"

namespace dlcp::core {

// Reads payloads in place of the core: for memory that the processor cannot read, or hardware that
// reads it anyway.
class WorthSource {
 public:
  virtual ~WorthSource() = default;
  // As gradient::mean_magnitude says, kPriceless included.
  virtual float magnitude(gradient::ElementType type, std::span<const std::byte> payload) const = 0;
};

class ChunkJudge {
 public:
  // `source` null: host memory, read here.
  explicit ChunkJudge(const LevelShares& shares = {}, const WorthSource* source = nullptr)
      : shares_(shares), judge_(judge_for(1)), source_(source) {}

  gradient::Worth judge(gradient::ElementType type, std::span<const std::byte> payload) {
    return judge_.judge(magnitude(type, payload));
  }
  // Of the packets judged so at most `share_max` are marked as anything but protected.
  gradient::Worth judge_within(double share_max, gradient::ElementType type,
                               std::span<const std::byte> payload) {
    const double usual = shares_.bulk_droppable + shares_.bulk_middle;
    if (share_max >= usual) return judge(type, payload);
    if (!capped_ || capped_->share != share_max)
      capped_ = Capped{share_max, 0, judge_for(share_max / usual)};
    capped_->allowed = std::min(capped_->allowed + share_max, kAllowedMax);
    const gradient::Worth worth = capped_->judge.judge(magnitude(type, payload));
    if (worth == gradient::Worth::kProtected) return worth;
    if (capped_->allowed < 1) return gradient::Worth::kProtected;
    capped_->allowed -= 1;
    return worth;
  }

 private:
  // Of packets: what was saved up by large ones is not all given away at once.
  static constexpr double kAllowedMax = 4;
  struct Capped {
    double share = 0;
    double allowed = 0;  // packets that may be marked now
    gradient::WorthJudge judge;
  };

  gradient::WorthJudge judge_for(double part) const {
    return gradient::WorthJudge(static_cast<float>(shares_.bulk_droppable * part),
                                static_cast<float>(shares_.bulk_middle * part));
  }
  float magnitude(gradient::ElementType type, std::span<const std::byte> payload) const {
    return source_ == nullptr ? gradient::mean_magnitude(type, payload)
                              : source_->magnitude(type, payload);
  }

  LevelShares shares_;
  gradient::WorthJudge judge_;  // of all licensed messages: one stream
  std::optional<Capped> capped_;
  const WorthSource* source_;
};

}  // namespace dlcp::core
