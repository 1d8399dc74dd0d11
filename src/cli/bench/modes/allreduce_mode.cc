// ring, allreduce: all-reduces over a ring, driven as NCCL's proxy drives them, or whole
// all-reduces through a CollNet plugin (direct, plan, switch, hub). The clock is stopped while the
// input is made and while every element of the output is compared with the reduction in rank order.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cli/bench/modes/rounds.h"
#include "cli/bench/own_servers.h"
#include "cli/data/reduce_data.h"
#include "cli/driver/collnet/collnet_reducer.h"
#include "cli/driver/ring/ring_channel.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

// Whether the result is the reduction in rank order. A switch's result may differ by rounding.
bool in_rank_order(Algorithm algorithm) {
  return algorithm == Algorithm::kDirect || algorithm == Algorithm::kSwitch ||
         algorithm == Algorithm::kHub;
}

template <class Parts, class Part>
std::uint64_t sum_of(const Parts& parts, std::uint64_t (Part::*count)() const) {
  std::uint64_t total = 0;
  for (const auto& part : parts)
    total += (*part.*count)();
  return total;
}

// One all-reduce over the ring, of a part of the vector, spread over the ring's channels.
class RingLayer final : public AllReducer {
 public:
  // Elements [begin, end) of the vector.
  RingLayer(Session& session, std::size_t begin, std::size_t end, const Reduction& reduction)
      : s_(session), count_(end - begin) {
    const auto parts = static_cast<std::size_t>(session.bench_case.channels);
    const std::size_t part = (count_ + parts - 1) / parts;
    for (std::size_t c = 0; c < parts; c++) {
      const std::size_t first = std::min(begin + c * part, end);
      channels_.push_back(std::make_unique<RingChannel>(hop_of(static_cast<int>(c)), first,
                                                        std::min(part, end - first), reduction,
                                                        session.bench_case.canary));
    }
  }

  void restart() override {
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
  bool step(const void* input, void* output) override {
    bool moved = false;
    for (auto& channel : channels_)
      moved |= channel->step(input, output);
    return moved;
  }
  bool done() const override { return std::ranges::all_of(channels_, &RingChannel::done); }
  std::uint64_t bytes_received() const override {
    return sum_of(channels_, &RingChannel::bytes_received);
  }
  std::uint64_t contributions_lost() const override {
    return sum_of(channels_, &RingChannel::contributions_lost);
  }
  std::uint64_t bytes_overwritten() override {
    std::uint64_t bytes = 0;
    for (auto& channel : channels_)
      bytes += channel->bytes_overwritten();
    return bytes;
  }

 private:
  RingHop hop_of(int channel) const {
    const int rank = s_.control.rank();
    const int ranks = s_.control.ranks();
    const Link* out = s_.links.find(rank, (rank + 1) % ranks, channel);
    const Link* in = s_.links.find((rank + ranks - 1) % ranks, rank, channel);
    return {s_.net, out->comm, in->comm, rank, ranks};
  }

  Session& s_;
  std::size_t count_;
  std::vector<std::unique_ptr<RingChannel>> channels_;
};

// This rank's communicator of a CollNet plugin, set up as NCCL sets it up: listen, exchange of the
// handles, one connect that blocks.
class CollNetGroup {
 public:
  explicit CollNetGroup(Session& session) : plugin_(*session.collnet) {
    std::array<char, nccl::kHandleBytes> handle{};
    void* listening = nullptr;
    require(plugin_.listen(session.links.first_device(), handle.data(), &listening),
            "collnet listen");
    auto theirs = session.control.exchange(std::string(handle.data(), handle.size()));
    std::vector<void*> handles;
    for (std::string& one : theirs) {
      if (one.size() != nccl::kHandleBytes)
        throw BenchError(ExitCode::kTransport,
                         "a rank sent an invalid handle for its CollNet listener; run the same "
                         "dlcp on all ranks");
      handles.push_back(one.data());
    }
    const std::int64_t begin = now_ns();
    // NCCL does not close the listener after a failed connect; the plugin has to.
    require(plugin_.connect(handles, session.control.rank(), listening, &comm_), "collnet connect");
    session.result.connect_seconds = static_cast<double>(now_ns() - begin) * 1e-9;
    require(plugin_.close_listen(listening), "collnet closeListen");
    session.control.alive(0);
  }
  ~CollNetGroup() {
    if (comm_ != nullptr) plugin_.close_coll(comm_);
  }
  CollNetGroup(const CollNetGroup&) = delete;
  CollNetGroup& operator=(const CollNetGroup&) = delete;

  void* comm() const { return comm_; }
  void close() { require(plugin_.close_coll(std::exchange(comm_, nullptr)), "closeColl"); }

 private:
  CollNetPlugin& plugin_;
  void* comm_ = nullptr;
};

// Reducers of consecutive parts of the vector; each starts when the previous one is done.
using Reducers = std::vector<std::unique_ptr<AllReducer>>;

class AllReduceRounds final : public Round {
 public:
  AllReduceRounds(Session& session, const Reducers& reducers)
      : Round(session),
        s_(session),
        c_(session.bench_case),
        reducers_(reducers),
        // Rings and plans add in an order of their own, so their sums must be exact in any order.
        data_(
            c_.reduction,
            in_rank_order(c_.algorithm) ? ReduceData::Values::kAny
                                        : ReduceData::Values::kExactAlways,
            c_.seed, c_.ranks,
            c_.loss_budget > 0 ? ReduceData::Magnitudes::kByPlace : ReduceData::Magnitudes::kAlike,
            c_.data),
        count_(c_.size / c_.reduction.element_bytes()),
        input_(c_.size),
        output_(c_.size) {}

  void prepare(std::uint64_t iteration) override {
    data_.fill(s_.control.rank(), iteration, 0, count_, input_.data());
    std::ranges::fill(output_, std::byte{0xff});  // NaN, or -1: never a result
  }

  void execute() override {
    for (const auto& reducer : reducers_) {
      reducer->restart();
      step_until([&] { return reducer->done(); },
                 [&] { return reducer->step(input_.data(), output_.data()); });
    }
  }

  void check(std::uint64_t iteration) override {
    count_overwritten();
    if (c_.mode == Mode::kRing && c_.loss_budget == 0) {
      if (!c_.check) return;
      const std::size_t wrong = data_.count_wrong(iteration, 0, count_, output_.data());
      s_.result.wrong += Mismatch{wrong * sizeof(float), wrong};
      return;
    }
    if (!c_.check && c_.mode != Mode::kRing) return;
    ReduceLoss loss = data_.check(iteration, output_.data(), count_, may());
    if (c_.algorithm == Algorithm::kRing) {
      const std::uint64_t lost = sum_of(reducers_, &AllReducer::contributions_lost);
      loss.lost = lost - std::exchange(lost_before_, lost);
    }
    s_.result.losses.push_back(loss);
  }

  std::uint64_t bytes_received() const override {
    return sum_of(reducers_, &AllReducer::bytes_received);
  }

 private:
  void count_overwritten() {
    std::uint64_t bytes = 0;
    for (const auto& reducer : reducers_)
      bytes += reducer->bytes_overwritten();
    const std::uint64_t more = bytes - std::exchange(overwritten_before_, bytes);
    const std::size_t element = c_.reduction.element_bytes();
    s_.result.wrong += Mismatch{more, (more + element - 1) / element};
  }

  // A ring's ranks count what is missing when it arrives, so their result must be exact here.
  ReduceData::May may() const {
    if (sums_by_switch(c_)) return ReduceData::May::kRound;
    return c_.loss_budget > 0 && in_rank_order(c_.algorithm) ? ReduceData::May::kLack
                                                             : ReduceData::May::kExact;
  }

  Session& s_;
  const BenchCase& c_;
  const Reducers& reducers_;
  ReduceData data_;
  std::size_t count_;
  std::uint64_t lost_before_ = 0;
  std::uint64_t overwritten_before_ = 0;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

void run(Session& session, const Reducers& reducers) {
  AllReduceRounds rounds(session, reducers);
  run_rounds(session, rounds);
}

// Parts of increasing length, as a framework reduces a model's layers one after the other.
// Different lengths let a plugin tell the calls apart.
Reducers ring_layers(Session& session) {
  const BenchCase& c = session.bench_case;
  const std::size_t count = c.size / c.reduction.element_bytes();
  const auto layers = static_cast<std::size_t>(c.layers);
  const std::size_t step = std::max<std::size_t>(count / (layers * (layers + 1) / 2), 1);
  Reducers reducers;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers; i++) {
    const std::size_t end = i + 1 == layers ? count : std::min(begin + (i + 1) * step, count);
    reducers.push_back(std::make_unique<RingLayer>(session, begin, end, c.reduction));
    begin = end;
  }
  return reducers;
}

void run_by_collnet(Session& session) {
  const BenchCase& c = session.bench_case;
  CollNetGroup group(session);
  int supported = 0;
  require(session.collnet->reduce_support(static_cast<int>(c.reduction.type),
                                          static_cast<int>(c.reduction.op), supported),
          "reduceSupport");
  if (supported == 0)
    throw BenchError(ExitCode::kUsage,
                     "the plugin does not support this combination of --type and --op");
  {
    auto reducer = std::make_unique<CollNetReducer>(*session.collnet, group.comm(), c.reduction,
                                                    c.size, c.channels, c.ranks, session.nccl);
    const CollNetReducer& seen = *reducer;
    Reducers reducers;
    reducers.push_back(std::move(reducer));
    run(session, reducers);
    session.result.wrong += Mismatch{seen.overruns(), 0};
  }
  group.close();
}

}  // namespace

void run_all_reduce(Session& session) {
  if (by_collnet(session.bench_case.algorithm)) return run_by_collnet(session);
  run(session, ring_layers(session));
}

}  // namespace dlcp::cli
