#include "cli/driver/collnet/collnet_reducer.h"

#include <unistd.h>

#include <cstring>
#include <memory>

namespace dlcp::cli {

CollNetReducer::CollNetReducer(CollNetPlugin& plugin, void* comm, const Reduction& reduction,
                               std::size_t bytes, int channels, int ranks, NcclPart* nccl)
    : plugin_(plugin),
      comm_(comm),
      nccl_(nccl),
      reduction_(reduction),
      calls_(bytes, static_cast<std::size_t>(channels)),
      channels_(static_cast<std::size_t>(channels)),
      ranks_(static_cast<std::size_t>(ranks)) {
  for (std::size_t g = 0; g < calls_.groups(); g++) {
    const std::size_t slot = calls_.call_bytes(g);
    groups_.push_back(std::unique_ptr<Channels>(
        new Channels{{plugin_, comm_, kSlots, slot}, {plugin_, comm_, kSlots, slot}}));
  }
}

void CollNetReducer::restart() {
  base_ += finished_ / calls_.groups();
  posted_ = finished_ = 0;
  if (nccl_ != nullptr) announce();
}

// Starts two operations for each channel before the first call, as NCCL's progress thread does.
void CollNetReducer::announce() {
  constexpr const char* kTypes[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                    "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                    "ncclFloat64", "ncclBfloat16"};
  CollectiveCall call;
  call.algorithm = "COLLNET_CHAIN";
  call.datatype = kTypes[static_cast<std::size_t>(reduction_.type)];
  call.count = calls_.bytes() / reduction_.element_bytes();
  call.channels = 0;  // as NCCL leaves it for CollNet
  void* const collective = nccl_->start_collective(call);
  for (std::size_t i = 0; i < 2 * channels_; i++) {
    nccl_->start_operation(collective,
                           {.pid = getpid(),
                            .channelId = static_cast<std::uint8_t>(i / 2),
                            .peer = static_cast<int>(ranks_),  // NCCL's number for the network
                            .nSteps = static_cast<int>(calls_.count() / calls_.groups()),
                            .chunkSize = static_cast<int>(calls_.chunk()),
                            .isSend = 0});
  }
}

bool CollNetReducer::step(const void* input, void* output) {
  bool moved = post(static_cast<const std::byte*>(input));
  for (std::size_t g = 0; g < groups_.size(); g++)
    moved |= test(*groups_[g], g, static_cast<std::byte*>(output));
  return moved;
}

bool CollNetReducer::test(Channels& channels, std::size_t group, std::byte* output) {
  if (channels.finished == channels.posted) return false;
  int done = 0;
  require(plugin_.test(channels.requests[channels.finished % kSlots], done), "collnet test");
  if (done == 0) return false;
  const std::uint64_t number = (channels.finished - base_) * calls_.groups() + group;
  const std::size_t bytes = calls_.real_bytes(number);
  if (bytes > 0)
    std::memcpy(output + calls_.offset(number), channels.results.at(channels.finished), bytes);
  bytes_ += 2 * (ranks_ - 1) * bytes / ranks_;
  channels.finished++;
  finished_++;
  return true;
}

// Calls are posted in the same order on all ranks, so a call that has to wait delays the later
// ones.
bool CollNetReducer::post(const std::byte* input) {
  bool moved = false;
  for (; posted_ < calls_.count(); posted_++) {
    const std::size_t group = posted_ % calls_.groups();
    Channels& channels = *groups_[group];
    if (channels.posted - channels.finished == kSlots) break;
    std::byte* from = channels.inputs.at(channels.posted);
    const std::size_t bytes = calls_.real_bytes(posted_);
    if (!filled_ && bytes > 0) std::memcpy(from, input + calls_.offset(posted_), bytes);
    filled_ = true;
    void* request = nullptr;
    require(plugin_.iallreduce(comm_, from, channels.results.at(channels.posted),
                               calls_.call_bytes(group) / reduction_.element_bytes(),
                               static_cast<int>(reduction_.type), static_cast<int>(reduction_.op),
                               channels.inputs.mhandle(), channels.results.mhandle(), &request),
            "iallreduce");
    if (request == nullptr) break;
    filled_ = false;
    channels.requests[channels.posted++ % kSlots] = request;
    moved = true;
  }
  return moved;
}

std::uint64_t CollNetReducer::overruns() const {
  std::uint64_t bytes = 0;
  for (const auto& channels : groups_)
    for (std::size_t slot = 0; slot < kSlots; slot++)
      bytes += channels->results.check_guard(slot);
  return bytes;
}

}  // namespace dlcp::cli
