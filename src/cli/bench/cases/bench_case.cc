#include "cli/bench/cases/bench_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text/quantity.h"

namespace dlcp::cli {

namespace {

template <class T, std::size_t kCount>
const char* name_in(const char* const (&names)[kCount], T value) {
  const auto number = static_cast<std::size_t>(value);
  return number < kCount ? names[number] : "?";
}

}  // namespace

const char* name_of(Idle idle) {
  constexpr const char* kNames[kIdles] = {"auto", "spin", "yield", "sleep"};
  return name_in(kNames, idle);
}

const char* name_of(Algorithm algorithm) {
  constexpr const char* kNames[kAlgorithms] = {"ring", "direct", "plan", "switch", "hub"};
  return name_in(kNames, algorithm);
}

const char* name_of(collective::DataType type) {
  constexpr const char* kNames[collective::kDataTypes] = {"i8",  "u8",  "i32", "u32", "i64",
                                                          "u64", "f16", "f32", "f64", "bf16"};
  return name_in(kNames, type);
}

const char* name_of(collective::ReduceOp op) {
  constexpr const char* kNames[collective::kReduceOps] = {"sum", "prod", "max", "min"};
  return name_in(kNames, op);
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
                       fmt::format("--size: '{}' is not valid; give 0..{} bytes, for example {}",
                                   one, nccl::kMaxNetBytesInt, kBytesExample));
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
