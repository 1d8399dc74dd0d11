// What the chunks of licensed messages are worth. Their magnitudes come from whoever can read the
// memory that they lie in; which of them are small is a question of the stream, and stays here.
#pragma once

#include <cstddef>
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
      : judge_(static_cast<float>(shares.bulk_droppable), static_cast<float>(shares.bulk_middle)),
        source_(source) {}

  gradient::Worth judge(gradient::ElementType type, std::span<const std::byte> payload) {
    return judge_.judge(source_ == nullptr ? gradient::mean_magnitude(type, payload)
                                           : source_->magnitude(type, payload));
  }

 private:
  gradient::WorthJudge judge_;  // of all licensed messages: one stream
  const WorthSource* source_;
};

}  // namespace dlcp::core
