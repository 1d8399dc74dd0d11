#include "cli/plugin/registrar.h"

#include <fmt/format.h>

#include "cli/launch/bench_error.h"

namespace dlcp::cli {

const char* name_of(ResultCode code) {
  constexpr const char* kNames[] = {
      "ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
      "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
      "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};
  const auto number = static_cast<std::size_t>(code);
  return number < std::size(kNames) ? kNames[number] : "an unknown result code";
}

void require(ResultCode code, const char* call) {
  if (code == ResultCode::kSuccess) return;
  throw BenchError(ExitCode::kTransport, fmt::format("{} returned {}", call, name_of(code)), code);
}

}  // namespace dlcp::cli
