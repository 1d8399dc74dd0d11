#include "cli/bench/ring_layer.h"

#include <algorithm>

#include "cli/bench/nccl_part.h"

namespace dlcp::cli {
namespace {

RingHop hop_of(Session& session, int channel) {
  const int rank = session.control.rank();
  const int ranks = session.control.ranks();
  const Link* out = session.links.find(rank, (rank + 1) % ranks, channel);
  const Link* in = session.links.find((rank + ranks - 1) % ranks, rank, channel);
  return {session.net, out->comm, in->comm, rank, ranks};
}

}  // namespace

RingLayer::RingLayer(Session& session, std::size_t begin, std::size_t end,
                     const Reduction& reduction)
    : s_(session), count_(end - begin) {
  const auto parts = static_cast<std::size_t>(session.bench_case.channels);
  const std::size_t part = (count_ + parts - 1) / parts;
  for (std::size_t c = 0; c < parts; c++) {
    const std::size_t first = std::min(begin + c * part, end);
    channels_.push_back(std::make_unique<RingChannel>(hop_of(session, static_cast<int>(c)), first,
                                                      std::min(part, end - first), reduction));
  }
}

void RingLayer::restart() {
  void* collective = nullptr;
  if (s_.nccl != nullptr) {
    CollectiveCall call;
    call.count = count_;
    call.channels = static_cast<std::uint8_t>(channels_.size());
    collective = s_.nccl->start_collective(call);
  }
  for (auto& channel : channels_)
    channel->restart(s_.nccl, collective);
}

bool RingLayer::step(const void* input, void* output) {
  bool moved = false;
  for (auto& channel : channels_)
    moved |= channel->step(input, output);
  return moved;
}

bool RingLayer::done() const {
  return std::ranges::all_of(
      channels_, [](const auto& channel) { return channel->done(); });
}

std::uint64_t RingLayer::bytes_received() const {
  std::uint64_t total = 0;
  for (const auto& channel : channels_)
    total += channel->bytes_received();
  return total;
}

std::uint64_t RingLayer::contributions_lost() const {
  std::uint64_t total = 0;
  for (const auto& channel : channels_)
    total += channel->contributions_lost();
  return total;
}

}  // namespace dlcp::cli
