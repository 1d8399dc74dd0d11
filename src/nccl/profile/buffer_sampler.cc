#include "nccl/profile/buffer_sampler.h"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <span>
#include <string_view>

#include "compression/packet_code.h"
#include "compression/sample.h"
#include "util/system/system_text.h"

namespace dlcp::nccl {
namespace {

constexpr std::size_t kBlocks = 4;
constexpr std::size_t kBlockBytes = 4096;  // more than a compressed packet holds of most data
constexpr std::size_t kSampleBytes = kBlocks * kBlockBytes;
// A packet of 1500 bytes has this much room, and takes whole granules of a message.
constexpr std::size_t kPacketRoom = 1400;
constexpr std::size_t kGranule = 128;
constexpr std::size_t kTypesMax = 32;

std::optional<compression::Format> format_of(const std::string& type) {
  if (type == "bfloat16") return compression::Format::kBfloat16;
  if (type == "float16") return compression::Format::kFloat16;
  if (type == "float32") return compression::Format::kFloat32;
  if (type == "float8e4m3") return compression::Format::kFloat8E4m3;
  if (type == "float8e5m2") return compression::Format::kFloat8E5m2;
  return std::nullopt;
}

// Bytes of the blocks, for one byte of the packets that DLCP would send for them.
double packet_ratio(std::span<const std::byte> blocks, const std::string& type) {
  const auto known = format_of(type);
  const auto format = known ? *known : compression::sample(blocks, known).format;
  std::array<std::byte, kPacketRoom + compression::block_room(compression::Format::kFloat32)> out;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < kBlocks; i++)
    taken += compression::encode(format, blocks.subspan(i * kBlockBytes, kBlockBytes), kPacketRoom,
                                 kGranule, out)
                 .taken;
  return std::max(1.0, static_cast<double>(taken) / static_cast<double>(kBlocks * kPacketRoom));
}

// Copies blocks that are spread evenly over the buffer; 0, or the error.
int copy_blocks(const void* buffer, std::uint64_t bytes, std::span<std::byte> out) {
  constexpr std::uint64_t kAlignment = 64;
  std::array<iovec, kBlocks> remote;
  const std::uint64_t step = bytes / remote.size() / kAlignment * kAlignment;
  for (std::size_t i = 0; i < remote.size(); i++)
    remote[i] = {const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + i * step,
                 kBlockBytes};
  const iovec local{out.data(), out.size()};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, remote.data(), remote.size(), 0);
  if (copied < 0) return errno;
  return static_cast<std::size_t>(copied) == out.size() ? 0 : EFAULT;
}

}  // namespace

std::string short_type_name(const char* nccl_name) {
  std::string_view name = nccl_name != nullptr ? nccl_name : "";
  if (name.starts_with("nccl")) name.remove_prefix(4);
  std::string lower(name.substr(0, 32));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "unknown" ? "uint8" : lower;  // NCCL's word for it up to 2.30
}

std::size_t element_bytes(const std::string& short_name) {
  if (short_name.ends_with("64")) return 8;
  if (short_name.ends_with("32")) return 4;
  return short_name.ends_with("16") ? 2 : 1;
}

void BufferSampler::look(Time now, const std::string& type, const void* buffer,
                         std::uint64_t bytes) {
  if (buffer == nullptr || bytes < kSampleBytes) return;
  {
    const std::lock_guard lock(mutex_);
    if (now < next_ || (sums_.size() >= kTypesMax && !sums_.contains(type))) return;
    next_ = now + kInterval;
  }
  std::array<std::byte, kSampleBytes> blocks;
  const int error = copy_blocks(buffer, bytes, blocks);
  const double ratio = error == 0 ? packet_ratio(blocks, type) : 1;
  const std::lock_guard lock(mutex_);
  if (error != 0) {
    unreadable_++;
    error_ = error;
    return;
  }
  Sum& sum = sums_[type];
  sum.samples++;
  sum.parts += 1 / std::clamp(ratio, 1.0, 1e4);
}

void BufferSampler::copy_to(whatif::Run& run) {
  const std::lock_guard lock(mutex_);
  for (const auto& [type, sum] : sums_)
    run.samples.push_back({type, sum.samples, static_cast<double>(sum.samples) / sum.parts});
  if (!sums_.empty()) return;
  run.buffers = unreadable_ == 0
                    ? fmt::format("no buffer of {} bytes or more was reduced", kSampleBytes)
                    : fmt::format(
                          "the buffers cannot be read by the host, for example because they "
                          "are in GPU memory ({})",
                          system_text(error_));
}

}  // namespace dlcp::nccl
