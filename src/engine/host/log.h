// The engine's log messages. The engine does not know NCCL's logger: its owner passes a sink, which
// is never called while the engine's lock is held.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace dlcp::engine {

enum class LogLevel : std::uint8_t { kWarn, kInfo };

struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

using LogSink = std::function<void(const LogLine&)>;

}  // namespace dlcp::engine
