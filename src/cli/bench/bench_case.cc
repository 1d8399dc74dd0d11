#include "cli/bench/bench_case.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <charconv>

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

bool BenchCase::spins() const {
  if (idle != Idle::kAuto) return idle == Idle::kSpin;
  return !one_host || ranks <= sysconf(_SC_NPROCESSORS_ONLN);
}

std::size_t parse_size(const std::string& text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit.size() == 1 || (unit.size() == 3 && (unit.substr(1) == "iB"))) {
    switch (std::toupper(static_cast<unsigned char>(unit[0]))) {
      case 'K':
        shift = 10;
        break;
      case 'M':
        shift = 20;
        break;
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (error != std::errc() || shift < 0 || value > (nccl::kMaxNetBytesInt >> shift))
    throw BenchError(ExitCode::kUsage,
                     fmt::format("--size: '{}' is no size; use 64, 4K or 1M, at most 1G", text));
  return value << shift;
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    sizes.push_back(parse_size(text.substr(at, end - at)));
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

double parse_fraction(const std::string& text) {
  const bool percent = !text.empty() && text.back() == '%';
  const std::string digits = percent ? text.substr(0, text.size() - 1) : text;
  double value = -1;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (percent) value /= 100;
  if (error != std::errc() || rest != digits.data() + digits.size() || !(value >= 0 && value < 1))
    throw BenchError(ExitCode::kUsage,
                     fmt::format("--loss: '{}' is no share of packets; use 0.01 or 1%", text));
  return value;
}

}  // namespace dlcp::cli
