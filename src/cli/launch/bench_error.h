// The exception that ends a process of a benchmark or a measurement, with its exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "cli/exit_code.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::cli {

// Caught once, where the process ends.
class BenchError : public std::runtime_error {
 public:
  BenchError(ExitCode exit_code, const std::string& what,
             nccl::ResultCode result = nccl::ResultCode::kSuccess)
      : std::runtime_error(what), exit_code_(exit_code), result_(result) {}
  ExitCode exit_code() const { return exit_code_; }
  nccl::ResultCode result() const { return result_; }

 private:
  ExitCode exit_code_;
  nccl::ResultCode result_;
};

// This rank was only told to end, because another one has failed.
class Stopped final : public BenchError {
 public:
  explicit Stopped(const std::string& why) : BenchError(ExitCode::kTransport, why) {}
};

// For input from the user: an error is a usage error.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw BenchError(ExitCode::kUsage, result.error().message());
  return std::move(result).value();
}

}  // namespace dlcp::cli
