// How NCCL cuts an all-reduce into calls of a CollNet plugin (COLLNET_CHAIN, one GPU in each node,
// buffers that are not registered). One call has the adjacent chunks of up to eight channels;
// further channels form further groups. Calls always have the full size; behind the vector's end
// they contain what was in the slot before. Source: NCCL 2.30, src/enqueue.cc (calcCollChunking)
// and src/transport/coll_net.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dlcp::cli {

class CollNetCalls {
 public:
  static constexpr std::size_t kGroupChannelsMax = 8;  // COLLNET_GROUP_NSUBS

  // `bytes` > 0, `channels` > 0.
  CollNetCalls(std::size_t bytes, std::size_t channels)
      : bytes_(bytes), channels_(channels), chunk_(chunk_bytes(bytes, channels)) {}

  std::size_t bytes() const { return bytes_; }
  std::size_t chunk() const { return chunk_; }
  std::size_t groups() const { return (channels_ + kGroupChannelsMax - 1) / kGroupChannelsMax; }
  std::uint64_t count() const {
    const std::size_t step = channels_ * chunk_;
    return (bytes_ + step - 1) / step * groups();
  }
  // Call `number` belongs to group number % groups().
  std::size_t offset(std::uint64_t number) const {
    return (number / groups() * channels_ + number % groups() * kGroupChannelsMax) * chunk_;
  }
  std::size_t call_bytes(std::size_t group) const {
    return std::min(channels_ - group * kGroupChannelsMax, kGroupChannelsMax) * chunk_;
  }
  // How many of a call's bytes belong to the vector.
  std::size_t real_bytes(std::uint64_t number) const {
    const std::size_t begin = std::min(offset(number), bytes_);
    return std::min(call_bytes(number % groups()), bytes_ - begin);
  }

 private:
  static constexpr std::size_t chunk_bytes(std::size_t bytes, std::size_t channels) {
    std::size_t chunk = std::size_t{256} << 10;  // less than a step of NCCL's default buffer
    const auto halve = [&](std::size_t steps, std::size_t least) {
      while (bytes / (channels * chunk) < steps && chunk > least)
        chunk /= 2;
    };
    halve(64, std::size_t{128} << 10);
    halve(8, std::size_t{64} << 10);
    halve(1, std::size_t{32} << 10);
    return chunk;
  }

  std::size_t bytes_;
  std::size_t channels_;
  std::size_t chunk_;
};

}  // namespace dlcp::cli
