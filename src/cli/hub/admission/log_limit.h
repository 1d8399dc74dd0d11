// Limits how many lines of one kind are logged in a minute. Anyone who reaches the hub's port can
// cause lines about refused connections, which must not fill the disk.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "util/time.h"

namespace dlcp::cli {

class LogLimit {
 public:
  LogLimit(std::function<void(const std::string&)> say, std::uint32_t lines_per_minute)
      : say_(std::move(say)), lines_per_minute_(lines_per_minute) {}

  void say(Time now, const std::string& line) {
    tick(now);
    if (!began_) began_ = now;
    if (++lines_ <= lines_per_minute_) say_(line);
  }
  // Logs the number of lines that were left out, once their minute is over.
  void tick(Time now) {
    if (!began_ || now - *began_ < kPeriod) return;
    if (lines_ > lines_per_minute_)
      say_(fmt::format("{} more lines like the last ones within a minute were not printed",
                       lines_ - lines_per_minute_));
    lines_ = 0;
    began_.reset();
  }

 private:
  static constexpr Duration kPeriod = 60s;

  const std::function<void(const std::string&)> say_;
  const std::uint32_t lines_per_minute_;
  std::uint64_t lines_ = 0;
  std::optional<Time> began_;
};

}  // namespace dlcp::cli
