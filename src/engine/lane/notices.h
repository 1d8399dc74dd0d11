// Notifications that an engine keeps until its lock is released: log lines, and failures for the
// other engines of a context. take() is called under the lock, speak() without it.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/endpoint_types.h"
#include "engine/host/log.h"
#include "util/result.h"

namespace dlcp::engine {

class Notices {
 public:
  // Called, without a lock, if a connection of the context has failed for a reason of its own.
  using FailureSink = std::function<void(core::ContextId context, const Error& error)>;

  Notices(LogSink log, FailureSink on_failure)
      : log_(std::move(log)), on_failure_(std::move(on_failure)) {}

  void log(LogLevel level, std::string text) { waiting_.lines.push_back({level, std::move(text)}); }
  void failed(core::ContextId context, const Error& error) {
    waiting_.failures.emplace_back(context, error);
  }

  struct Batch {
    std::vector<LogLine> lines;
    std::vector<std::pair<core::ContextId, Error>> failures;
  };
  Batch take() { return std::exchange(waiting_, {}); }
  void speak(const Batch& batch) const {
    for (const LogLine& line : batch.lines)
      log_(line);
    for (const auto& [context, error] : batch.failures)
      on_failure_(context, error);
  }

 private:
  Batch waiting_;
  const LogSink log_;
  const FailureSink on_failure_;
};

}  // namespace dlcp::engine
