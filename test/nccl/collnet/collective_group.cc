#include "collective_group.h"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "util/rng.h"

namespace dlcp::test {

CollectivePlugin::CollectivePlugin(const Settings& settings) {
  set_environment(settings);
  plugin = std::make_unique<Plugin>();
  rank = std::make_unique<Rank>(plugin->net());
  take_log();
}

std::vector<std::vector<float>> random_inputs(int ranks, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<float>> inputs(static_cast<std::size_t>(ranks));
  for (auto& input : inputs)
    for (std::size_t i = 0; i < count; ++i)
      input.push_back(static_cast<float>(rng.unit()) - 0.5f);
  return inputs;
}

std::vector<float> sum_of(const std::vector<std::vector<float>>& inputs) {
  std::vector<float> sum = inputs[0];
  for (std::size_t rank = 1; rank < inputs.size(); ++rank)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += inputs[rank][i];
  return sum;
}

CollectiveGroup::CollectiveGroup(const Plugin& plugin, int ranks, std::uint64_t comm_id)
    : table_(static_cast<const nccl::CollNetV12*>(plugin.symbol(nccl::kCollNetSymbolV12))),
      members_(static_cast<std::size_t>(ranks)) {
  for (Member& member : members_)
    if (table_->init(&member.context, comm_id, logger) != ResultCode::kSuccess ||
        table_->listen(member.context, 0, member.handle.data(), &member.listening) !=
            ResultCode::kSuccess)
      throw std::runtime_error("init or listen of the collective plugin failed");
}

CollectiveGroup::~CollectiveGroup() {
  for (int i = 0; i < ranks(); ++i)
    close(i);
}

void CollectiveGroup::connect(const std::vector<int>& without) {
  std::vector<void*> handles;
  for (Member& member : members_)
    handles.push_back(member.handle.data());
  std::vector<std::thread> threads;
  for (int i = 0; i < ranks(); ++i) {
    if (std::ranges::find(without, i) == without.end()) {
      threads.emplace_back([this, i, handles]() mutable {
        Member& member = rank(i);
        member.connected =
            table_->connect(handles.data(), ranks(), i, member.listening, &member.group);
        if (member.connected == ResultCode::kSuccess) table_->closeListen(member.listening);
        member.listening = nullptr;
      });
    }
  }
  for (auto& thread : threads)
    thread.join();
}

void CollectiveGroup::close(int index) {
  Member& member = rank(index);
  if (member.group != nullptr) table_->closeColl(member.group);
  if (member.listening != nullptr) table_->closeListen(member.listening);
  if (member.context != nullptr) table_->finalize(member.context);
  member = {};
}

ResultCode CollectiveGroup::start(int index, const std::vector<float>& input,
                                  std::vector<float>& result, void** request) {
  constexpr int kFloat32 = 7, kSum = 0;
  return table_->iallreduce(rank(index).group, const_cast<float*>(input.data()), result.data(),
                            result.size(), kFloat32, kSum, nullptr, nullptr, request);
}

ResultCode CollectiveGroup::finish(void* request) {
  int done = 0;
  ResultCode code = ResultCode::kSuccess;
  const bool ended = within(std::chrono::seconds(10), [&] {
    code = table_->test(request, &done, nullptr);
    return done != 0 || code != ResultCode::kSuccess;
  });
  return ended ? code : ResultCode::kTimeout;
}

std::vector<ResultCode> CollectiveGroup::all_reduce(const std::vector<std::vector<float>>& inputs,
                                                    std::vector<std::vector<float>>& results) {
  std::vector<ResultCode> codes(members_.size(), ResultCode::kInProgress);
  std::vector<void*> requests(members_.size());
  const auto step = [&](std::size_t i) {
    if (codes[i] != ResultCode::kInProgress) return true;
    if (requests[i] == nullptr) {
      const ResultCode code = start(static_cast<int>(i), inputs[i], results[i], &requests[i]);
      if (code != ResultCode::kSuccess) codes[i] = code;
      return false;
    }
    int done = 0;
    const ResultCode code = table_->test(requests[i], &done, nullptr);
    if (code != ResultCode::kSuccess || done != 0) codes[i] = code;
    return false;
  };
  within(std::chrono::seconds(30), [&] {
    bool all = true;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      all = (members_[i].group == nullptr || step(i)) && all;
    }
    return all;
  });
  return codes;
}

}  // namespace dlcp::test
