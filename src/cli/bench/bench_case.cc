#include "cli/bench/bench_case.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "util/quantity.h"

namespace dlcp::cli {

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::kBandwidth:
      return "bw";
    case Mode::kLatency:
      return "lat";
    case Mode::kRing:
      return "ring";
    case Mode::kIncast:
      return "incast";
    case Mode::kAllToAll:
      return "alltoall";
    case Mode::kAbort:
      return "abort";
    case Mode::kPlan:
      return "plan";
    case Mode::kAllReduce:
      return "allreduce";
  }
  return "?";
}

const char* name_of(LineFlags flags) {
  switch (flags) {
    case LineFlags::kNone:
      return "none";
    case LineFlags::kLl:
      return "ll";
    case LineFlags::kLl128:
      return "ll128";
  }
  return "?";
}

const char* name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRing:
      return "ring";
    case Algorithm::kDirect:
      return "direct";
    case Algorithm::kPlan:
      return "plan";
    case Algorithm::kSwitch:
      return "switch";
    case Algorithm::kHub:
      return "hub";
  }
  return "?";
}

const char* name_of(collective::DataType type) {
  constexpr const char* kNames[collective::kDataTypes] = {"i8",  "u8",  "i32", "u32", "i64",
                                                          "u64", "f16", "f32", "f64", "bf16"};
  return kNames[static_cast<std::size_t>(type)];
}

const char* name_of(collective::ReduceOp op) {
  constexpr const char* kNames[collective::kReduceOps] = {"sum", "prod", "max", "min"};
  return kNames[static_cast<std::size_t>(op)];
}

const char* name_of(nccl::ResultCode code) {
  switch (code) {
    case nccl::ResultCode::kSuccess:
      return "ncclSuccess";
    case nccl::ResultCode::kUnhandledCudaError:
      return "ncclUnhandledCudaError";
    case nccl::ResultCode::kSystemError:
      return "ncclSystemError";
    case nccl::ResultCode::kInternalError:
      return "ncclInternalError";
    case nccl::ResultCode::kInvalidArgument:
      return "ncclInvalidArgument";
    case nccl::ResultCode::kInvalidUsage:
      return "ncclInvalidUsage";
    case nccl::ResultCode::kRemoteError:
      return "ncclRemoteError";
    case nccl::ResultCode::kInProgress:
      return "ncclInProgress";
    case nccl::ResultCode::kTimeout:
      return "ncclTimeout";
  }
  return "an unknown result code";
}

void require(nccl::ResultCode code, const char* call) {
  if (code == nccl::ResultCode::kSuccess) return;
  throw BenchError(ExitCode::kTransport, fmt::format("{} returned {}", call, name_of(code)), code);
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const auto size = parse_bytes(one);
    if (!size || *size > nccl::kMaxNetBytesInt)
      throw BenchError(ExitCode::kUsage,
                       fmt::format("--size: '{}' is not valid; give 0..{} bytes, or {}", one,
                                   nccl::kMaxNetBytesInt, kBytesExample));
    sizes.push_back(static_cast<std::size_t>(*size));
    at = end + 1;
  }
  return sizes;
}

std::string format_size(std::size_t bytes) {
  constexpr std::size_t kKi = 1024;
  if (bytes >= kKi * kKi * kKi && bytes % (kKi * kKi * kKi) == 0)
    return fmt::format("{}G", bytes >> 30);
  if (bytes >= kKi * kKi && bytes % (kKi * kKi) == 0) return fmt::format("{}M", bytes >> 20);
  if (bytes >= kKi && bytes % kKi == 0) return fmt::format("{}K", bytes >> 10);
  return fmt::format("{}", bytes);
}

}  // namespace dlcp::cli
