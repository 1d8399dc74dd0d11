#include "nccl/context/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace dlcp::nccl {
namespace {

constexpr unsigned long kLogEverywhere = ~0ul;
constexpr std::size_t kLineBytes = 900;  // NCCL formats into 1024 bytes, including its prefix

constinit std::atomic<DebugLogger> nccl_logger{nullptr};

}  // namespace

void set_logger(DebugLogger logger) {
  if (logger != nullptr) nccl_logger.store(logger, std::memory_order_release);
}

void say(const engine::LogLine& line) {
  const DebugLogger logger = nccl_logger.load(std::memory_order_acquire);
  if (logger == nullptr) return;
  const bool warn = line.level == engine::LogLevel::kWarn;
  const std::string text = line.text.substr(0, kLineBytes);
  logger(warn ? LogLevel::kWarn : LogLevel::kInfo, warn ? kLogEverywhere : kLogInit | kLogNet,
         "net_dlcp", 0, "NET/DLCP : %s", text.c_str());
}

ResultCode code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return ResultCode::kInvalidArgument;
    case ErrorCode::kInvalidUsage:
      return ResultCode::kInvalidUsage;
    case ErrorCode::kSystem:
      return ResultCode::kSystemError;
    case ErrorCode::kRemote:
      return ResultCode::kRemoteError;
    case ErrorCode::kInternal:
      break;
  }
  return ResultCode::kInternalError;
}

ResultCode refuse(const Error& error) {
  say({engine::LogLevel::kWarn, error.message()});
  return code_of(error.code);
}

ResultCode refuse_on_stderr(const Error& error) {
  static constinit std::mutex mutex;
  static constinit std::string* last = nullptr;  // leaked, so that no destructor runs at exit
  const std::string message = error.message();
  bool fresh = false;
  {
    const std::lock_guard lock(mutex);
    fresh = last == nullptr || *last != message;
    if (fresh) {
      delete last;
      last = new std::string(message);
    }
  }
  if (fresh) {
    const std::string line = fmt::format("NET/DLCP : {}\n", message);
    [[maybe_unused]] const ssize_t put = write(STDERR_FILENO, line.data(), line.size());
  }
  say({engine::LogLevel::kWarn, message});
  return ResultCode::kInvalidUsage;
}

}  // namespace dlcp::nccl
