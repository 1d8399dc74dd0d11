#include "synth/mscclpp_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "synth/mscclpp_blocks.h"

namespace dlcp::synth {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBlocksWanted = 8;  // where there are as many chunks: one block does not fill a link
constexpr int kBlocksMax = 64;    // all of them must run at the same time

struct Made {
  std::vector<std::vector<MscclppBlock>> blocks;  // by rank
  std::vector<int> scratch;

  bool fits() const {
    return std::all_of(blocks.begin(), blocks.end(), [](const auto& of_rank) {
      return std::all_of(of_rank.begin(), of_rank.end(),
                         [](const MscclppBlock& block) { return block.fits(); });
    });
  }
};

// The blocks have about as many chunks each.
Made make(const Schedule& schedule, int box, int count) {
  Made made;
  made.blocks.resize(static_cast<std::size_t>(schedule.ranks));
  made.scratch.resize(made.blocks.size());
  const auto chunks = static_cast<std::int64_t>(schedule.chunks.size());
  for (int i = 0; i < count; i++) {
    auto blocks = mscclpp_blocks(schedule, box, static_cast<int>(chunks * i / count),
                                 static_cast<int>(chunks * (i + 1) / count), made.scratch);
    for (std::size_t rank = 0; rank < blocks.size(); rank++)
      made.blocks[rank].push_back(std::move(blocks[rank]));
  }
  return made;
}

constexpr MscclppChannel kKinds[] = {MscclppChannel::kMemory, MscclppChannel::kPort};

// Channels of a GPU are numbered by kind, block by block; two GPUs have the same blocks in common,
// so the k-th channel to a peer is that peer's k-th to this GPU.
Json gpu_json(int rank, const std::vector<MscclppBlock>& blocks) {
  Json gpu, list = Json::array(), channels = Json::array(), buffers = Json::array();
  std::vector<std::pair<int, std::pair<int, char>>> known;  // buffers by kind
  std::vector<int> connected[2];
  for (std::size_t id = 0; id < blocks.size(); id++) {
    Json block, used = Json::array(), refs = Json::array();
    for (int kind = 0; kind < 2; kind++) {
      std::vector<std::size_t> ids, buffer_ids;
      for (const int peer : blocks[id].peers(kKinds[kind])) {
        ids.push_back(connected[kind].size());
        connected[kind].push_back(peer);
      }
      for (const auto& remote : blocks[id].remote_buffers(kKinds[kind])) {
        const auto at = std::find(known.begin(), known.end(), std::pair{kind, remote});
        buffer_ids.push_back(static_cast<std::size_t>(at - known.begin()));
        if (at != known.end()) continue;
        known.emplace_back(kind, remote);
        buffers.push_back({{"rank", remote.first},
                           {"type", std::string(1, remote.second)},
                           {"access_channel_types", {kMscclppChannelNames[kind]}}});
      }
      if (!ids.empty())
        used.push_back({{"channel_type", kMscclppChannelNames[kind]}, {"channel_ids", ids}});
      if (!buffer_ids.empty())
        refs.push_back({{"access_channel_type", kMscclppChannelNames[kind]},
                        {"remote_buffer_ids", buffer_ids}});
    }
    list.push_back({{"id", id},
                    {"ops", blocks[id].operations()},
                    {"channels", std::move(used)},
                    {"remote_buffer_refs", std::move(refs)}});
  }
  for (int kind = 0; kind < 2; kind++) {
    if (!connected[kind].empty())
      channels.push_back(
          {{"channel_type", kMscclppChannelNames[kind]}, {"connected_to", connected[kind]}});
  }
  gpu["id"] = rank;
  gpu["threadblocks"] = std::move(list);
  gpu["channels"] = std::move(channels);
  gpu["remote_buffers"] = std::move(buffers);
  gpu["semaphores"] = Json::array();
  return gpu;
}

Json plan_json(const Schedule& schedule, const MscclppOptions& options, const Made& made) {
  const bool to_all = schedule.collective == Collective::kAllToAll,
             gathers = schedule.collective == Collective::kAllGather,
             scatters = schedule.collective == Collective::kReduceScatter;
  const int whole = to_all ? schedule.units * schedule.ranks : schedule.units;
  const int shard = whole / schedule.ranks;
  Json plan;
  plan["name"] = options.name;
  plan["collective"] = name_of(schedule.collective);
  plan["protocol"] = "Simple";
  plan["inplace"] = !to_all && !scatters;
  plan["reuse_resources"] = false;
  plan["gpus"] = Json::array();
  for (int rank = 0; rank < schedule.ranks; rank++) {
    Json gpu = gpu_json(rank, made.blocks[static_cast<std::size_t>(rank)]);
    gpu["input_chunks"] = gathers ? shard : whole;
    gpu["output_chunks"] = scatters ? shard : whole;
    gpu["scratch_chunks"] = made.scratch[static_cast<std::size_t>(rank)];
    plan["gpus"].push_back(std::move(gpu));
  }
  plan["num_threads_per_block"] = 1024;
  plan["use_double_scratch_buffer"] = false;
  plan["buffer_alignment"] = 16;
  plan["min_message_size"] = options.bytes_min;
  plan["max_message_size"] = options.bytes_max;
  return plan;
}

}  // namespace

Result<std::string> mscclpp_json(const Schedule& schedule, const MscclppOptions& options) {
  const int chunks = std::max(static_cast<int>(schedule.chunks.size()), 1);
  for (int count = std::min(chunks, kBlocksWanted);; count *= 2) {
    count = std::min({count, chunks, kBlocksMax});
    const Made made = make(schedule, options.box, count);
    if (made.fits()) return plan_json(schedule, options, made).dump() + "\n";
    if (count == std::min(chunks, kBlocksMax)) break;
  }
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("this {} of {} ranks is no plan for MSCCL++: one of its thread blocks "
                           "would have more than {} operations or {} channels",
                           name_of(schedule.collective), schedule.ranks,
                           MscclppBlock::kOperationsMax, MscclppBlock::kChannelsMax),
               "plan for larger sizes or fewer ranks, or give --algorithm ring where switches join "
               "all ranks"};
}

}  // namespace dlcp::synth
