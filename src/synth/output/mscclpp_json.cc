#include "synth/output/mscclpp_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "synth/output/mscclpp_blocks.h"

namespace dlcp::synth {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBlocksWanted = 8;  // if there are enough chunks: one block does not fill a link
constexpr int kBlocksMax = 64;    // all of them must run concurrently

struct Made {
  std::vector<std::vector<MscclppBlock>> blocks;  // by rank
  std::vector<int> scratch;
};

// Distributes the chunks evenly over `count` blocks.
std::optional<Made> make(const Schedule& schedule, int box, int count) {
  Made made;
  made.blocks.resize(static_cast<std::size_t>(schedule.ranks));
  made.scratch.resize(made.blocks.size());
  const auto chunks = static_cast<std::int64_t>(schedule.chunks.size());
  for (int i = 0; i < count; i++) {
    auto blocks = mscclpp_blocks(schedule, box, static_cast<int>(chunks * i / count),
                                 static_cast<int>(chunks * (i + 1) / count), made.scratch);
    if (!blocks) return std::nullopt;
    for (std::size_t rank = 0; rank < blocks->size(); rank++)
      made.blocks[rank].push_back(std::move((*blocks)[rank]));
  }
  return made;
}

// Uses the fewest blocks that fit.
std::optional<Made> make(const Schedule& schedule, int box) {
  const int chunks = std::max(static_cast<int>(schedule.chunks.size()), 1);
  const int most = std::min(chunks, kBlocksMax);
  for (int count = std::min(chunks, kBlocksWanted);; count = std::min(2 * count, most)) {
    auto made = make(schedule, box, count);
    if (made || count == most) return made;
  }
}

Json operation_json(const MscclppOperation& operation) {
  Json json, from = Json::array(), to = Json::array();
  const auto local = [](const MscclppSpan& span) -> Json {
    return {{"type", std::string(1, span.buffer)}, {"index", span.begin}, {"size", span.units}};
  };
  for (const MscclppSpan& span : operation.from)
    from.push_back(local(span));
  for (std::size_t i = 0; i < operation.to.size(); i++) {
    const MscclppSpan& span = operation.to[i];
    if (operation.remote.empty())
      to.push_back(local(span));
    else
      to.push_back(
          {{"buffer_id", operation.remote[i]}, {"index", span.begin}, {"size", span.units}});
  }
  json["name"] = operation.name;
  if (!from.empty()) {
    json["src_buff"] = std::move(from);
    json["dst_buff"] = std::move(to);
  }
  if (!operation.channels.empty()) json["channel_ids"] = operation.channels;
  if (operation.kind)
    json["channel_type"] = kMscclppChannelNames[static_cast<std::size_t>(*operation.kind)];
  if (operation.name == std::string_view("re")) json["reduce_op"] = "sum";
  return json;
}

constexpr MscclppChannel kKinds[] = {MscclppChannel::kMemory, MscclppChannel::kPort};

// Channels of a GPU are numbered by kind, block by block. Two GPUs have the same sequence of common
// blocks, so the k-th channel to a peer matches that peer's k-th channel to this GPU.
Json gpu_json(int rank, const std::vector<MscclppBlock>& blocks) {
  Json gpu, list = Json::array(), channels = Json::array(), buffers = Json::array();
  std::vector<std::pair<int, std::pair<int, char>>> known;  // numbered buffers by kind
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
    Json operations = Json::array();
    for (const MscclppOperation& operation : blocks[id].operations())
      operations.push_back(operation_json(operation));
    block["id"] = id;
    block["ops"] = std::move(operations);
    block["channels"] = std::move(used);
    block["remote_buffer_refs"] = std::move(refs);
    list.push_back(std::move(block));
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

bool fits_mscclpp(const Schedule& schedule, int box) {
  return make(schedule, box).has_value();
}

Result<std::string> mscclpp_json(const Schedule& schedule, const MscclppOptions& options) {
  if (const auto made = make(schedule, options.box))
    return plan_json(schedule, options, *made).dump() + "\n";
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("MSCCL++ cannot run this {} of {} ranks: one of its thread blocks "
                           "would have more than {} operations or {} channels",
                           name_of(schedule.collective), schedule.ranks,
                           MscclppBlock::kOperationsMax, MscclppBlock::kChannelsMax),
               "plan for fewer ranks"};
}

}  // namespace dlcp::synth
