#include "synth/output/mscclpp_block.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace dlcp::synth {
namespace {

constexpr std::size_t kSourcesMax = MscclppBlock::kAtOnce + 1;  // of one sum

template <class List>
int place_in(List& list, const typename List::value_type& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  const auto place = static_cast<int>(at - list.begin());
  if (at == list.end()) list.push_back(value);
  return place;
}

bool any_meets(const std::vector<MscclppSpan>& some, const std::vector<MscclppSpan>& others) {
  return std::any_of(
      some.begin(), some.end(),
      [&](const MscclppSpan& a) {
        return std::any_of(
            others.begin(), others.end(), [&](const MscclppSpan& b) { return a.meets(b); });
      });
}

}  // namespace

int MscclppBlock::channel(int peer) {
  return place_in(used_[index(kind(peer))].peers, peer);
}

int MscclppBlock::remote_buffer(int peer, char buffer) {
  return place_in(used_[index(kind(peer))].buffers, {peer, buffer});
}

void MscclppBlock::synchronise() {
  operations_.push_back({});
  reads_.clear();
  writes_.clear();
  put_ = waited_ = false;
}

// Threads of a block may access the same data without synchronisation, and only one thread waits
// for signals; a barrier separates conflicting operations.
void MscclppBlock::begin(const std::vector<MscclppSpan>& reads,
                         const std::vector<MscclppSpan>& writes) {
  if (waited_ || any_meets(reads, writes_) || any_meets(writes, writes_) ||
      any_meets(writes, reads_))
    synchronise();
  reads_.insert(reads_.end(), reads.begin(), reads.end());
  writes_.insert(writes_.end(), writes.begin(), writes.end());
}

void MscclppBlock::talk(const char* name, const Peers& peers) {
  const bool tells = name == std::string_view("signal");
  if (tells && put_) synchronise();
  // At most once per channel in an operation, and channels of one kind.
  std::map<MscclppChannel, std::vector<std::vector<int>>> batches;
  for (const int peer : peers) {
    auto& of_kind = batches[kind(peer)];
    const int id = channel(peer);
    const auto room = std::find_if(of_kind.begin(), of_kind.end(), [&](const auto& batch) {
      return batch.size() < kAtOnce && std::find(batch.begin(), batch.end(), id) == batch.end();
    });
    if (room == of_kind.end())
      of_kind.push_back({id});
    else
      room->push_back(id);
  }
  for (const auto& [of, list] : batches)
    for (const auto& ids : list)
      operations_.push_back({name, of, ids});
  waited_ = waited_ || !tells;
}

void MscclppBlock::put(const char* name, MscclppChannel of, const std::vector<MscclppPut>& puts) {
  // The executor takes all sources of an operation from the buffer of the first one.
  for (const char buffer : {'i', 'o', 's'}) {
    std::vector<MscclppPut> mine;
    std::copy_if(puts.begin(), puts.end(), std::back_inserter(mine),
                 [&](const MscclppPut& one) { return one.from.buffer == buffer; });
    for (std::size_t first = 0; first < mine.size(); first += kAtOnce) {
      MscclppOperation operation{name, of};
      for (std::size_t i = first; i < std::min(first + kAtOnce, mine.size()); i++) {
        operation.from.push_back(mine[i].from);
        operation.to.push_back(mine[i].to);
        operation.remote.push_back(remote_buffer(mine[i].peer, mine[i].to.buffer));
        const int through = channel(mine[i].peer);
        if (of == MscclppChannel::kPort) operation.channels.push_back(through);
      }
      begin(operation.from, {});
      operations_.push_back(std::move(operation));
      put_ = true;
    }
  }
}

void MscclppBlock::send(const std::vector<MscclppPut>& puts) {
  std::vector<MscclppPut> through_memory, before, last;
  Peers told;
  for (const MscclppPut& one : puts) {
    if (kind(one.peer) == MscclppChannel::kMemory) {
      through_memory.push_back(one);
      place_in(told, one.peer);
      continue;
    }
    // A port signals the peer after its last write, and is done when the network card has read all
    // data.
    const auto older = std::find_if(
        last.begin(), last.end(), [&](const MscclppPut& other) { return other.peer == one.peer; });
    if (older == last.end()) {
      last.push_back(one);
    } else {
      before.push_back(*older);
      *older = one;
    }
  }
  put("put", MscclppChannel::kPort, before);
  put("put", MscclppChannel::kMemory, through_memory);
  if (!before.empty()) synchronise();
  put("pwsf", MscclppChannel::kPort, last);
  if (!told.empty()) signal(told);
}

void MscclppBlock::sum(const std::vector<MscclppSpan>& from, const MscclppSpan& to) {
  if (from.size() == 1) {
    begin(from, {to});
    operations_.push_back({"copy", {}, {}, from, {to}});
    return;
  }
  std::size_t next = 0;
  while (next < from.size()) {
    std::vector<MscclppSpan> sources;
    if (next > 0) sources.push_back(to);
    while (next < from.size() && sources.size() < kSourcesMax)
      sources.push_back(from[next++]);
    begin(sources, {to});
    operations_.push_back({"re", {}, {}, std::move(sources), {to}});
  }
}

bool MscclppBlock::fits() const {
  return operations_.size() <= kOperationsMax && std::all_of(
                                                     std::begin(used_), std::end(used_),
                                                     [](const Used& used) {
                                                       return used.peers.size() <= kChannelsMax &&
                                                              used.buffers.size() <= kChannelsMax;
                                                     });
}

}  // namespace dlcp::synth
