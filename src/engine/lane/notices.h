// Notifications that an engine keeps until its lock is released: log lines, and failures for the
// other engines of a context. take() is called under the lock, speak() without it.
#pragma once

#include <exception>
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
  // Exceptions of the receivers, which copy texts and may run out of memory, end only the notice
  // that they belong to: callers are destructors and the helper thread.
  void speak(const Batch& batch) const noexcept {
    for (const LogLine& line : batch.lines)
      attempt([&] { log_(line); });
    for (const auto& failure : batch.failures)
      attempt([&] { on_failure_(failure.first, failure.second); });
  }

 private:
  template <class Call>
  static void attempt(const Call& call) noexcept {
    try {
      call();
    } catch (const std::exception&) {
      // The notice was the report.
    }
  }

  Batch waiting_;
  const LogSink log_;
  const FailureSink on_failure_;
};

}  // namespace dlcp::engine
