// What the engine has to say to people. It does not know NCCL's logger: whoever opens an engine
// hands it a sink, which is only ever called without a lock of ours held.
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
