// Whether lanes work in parallel: two threads, each with a stream of messages of its own, once over
// one lane that they share and once over a lane for each, in turn. A lane is a pair of engines with
// memory between them in place of cards, so that nothing but our own code is measured: both sides,
// copy included.
//
//   bench_lanes [--seconds 1] [--rounds 5] [--kib 256]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/clock.h"
#include "engine/engine.h"
#include "secrets.h"

namespace {

using namespace dlcp;

// Packets from one side to the other; the two sides of a lane run under locks of their own, so it
// takes one of its own as well.
class Cable {
 public:
  static constexpr std::size_t kSlots = 512;
  static constexpr std::size_t kSlotBytes = 4224;

  std::size_t put(std::span<const wire::TxPacket> packets) {
    const std::lock_guard lock(mutex_);
    std::size_t taken = 0;
    for (; taken < packets.size() && end_ - begin_ < kSlots; ++taken) {
      const wire::TxPacket& packet = packets[taken];
      Slot& slot = slots_[end_++ % kSlots];
      slot.bytes = packet.header_bytes + packet.payload.size();
      std::memcpy(slot.data.data(), packet.header.data(), packet.header_bytes);
      std::memcpy(slot.data.data() + packet.header_bytes, packet.payload.data(),
                  packet.payload.size());
      slot.path = packet.path;
    }
    return taken;
  }
  // What was taken the last time is free from here on.
  std::size_t take(Time now, std::span<wire::RxPacket> out) {
    const std::lock_guard lock(mutex_);
    begin_ += handed_out_;
    handed_out_ = std::min(out.size(), end_ - begin_);
    for (std::size_t i = 0; i < handed_out_; ++i) {
      const Slot& slot = slots_[(begin_ + i) % kSlots];
      out[i] = {};
      out[i].bytes = std::span(slot.data).first(slot.bytes);
      out[i].arrived_at = now;
      out[i].path = slot.path;
    }
    return handed_out_;
  }

 private:
  struct Slot {
    std::array<std::byte, kSlotBytes> data;
    std::size_t bytes = 0;
    wire::PathIndex path = 0;
  };
  std::mutex mutex_;
  std::vector<Slot> slots_{kSlots};
  std::size_t begin_ = 0, end_ = 0, handed_out_ = 0;
};

class CableDatapath final : public datapath::Datapath {
 public:
  CableDatapath(std::shared_ptr<Cable> out, std::shared_ptr<Cable> in, int side)
      : out_(std::move(out)), in_(std::move(in)), address_{{static_cast<std::byte>(side)}, 1} {}
  std::string_view name() const override { return "cable"; }
  const wire::EndpointAddress& local_address() const override { return address_; }
  datapath::Limits limits() const override { return {4172, 4, 64, std::size_t{1} << 20}; }
  std::size_t send(std::span<const wire::TxPacket> packets) override { return out_->put(packets); }
  std::size_t receive(Time now, std::span<wire::RxPacket> out) override {
    return in_->take(now, out);
  }
  int wait_descriptor() const override { return -1; }

 private:
  const std::shared_ptr<Cable> out_, in_;
  const wire::EndpointAddress address_;
};

std::unique_ptr<engine::Engine> open(std::unique_ptr<CableDatapath> datapath) {
  core::Config config;
  config.datagram_bytes_max = datapath->limits().datagram_bytes_max;
  config.receive_capacity_bytes = datapath->limits().receive_capacity_bytes;
  config.paths = datapath->limits().paths;
  return std::make_unique<engine::Engine>(
      std::move(datapath), config, test::secrets_of(1),
      [](const engine::LogLine& line) { fmt::print(stderr, "{}\n", line.text); },
      [](core::ContextId, const Error&) {});
}

struct Lane {
  std::shared_ptr<Cable> there = std::make_shared<Cable>();
  std::shared_ptr<Cable> back = std::make_shared<Cable>();
  std::unique_ptr<engine::Engine> a = open(std::make_unique<CableDatapath>(there, back, 0));
  std::unique_ptr<engine::Engine> b = open(std::make_unique<CableDatapath>(back, there, 1));
};

// Messages from a to b, one after the other, until told to stop.
class Stream {
 public:
  Stream(Lane& lane, std::uint32_t number, std::size_t bytes)
      : lane_(lane), out_(bytes, std::byte{1}), in_(bytes) {
    const auto listening = lane.b->listen(1, number);
    sends_ = lane.a->connect(1, listening.invitation, lane.b->address());
    while (receives_ == nullptr || lane.a->poll_state(*sends_) != core::ConnectionState::kOpen) {
      if (receives_ == nullptr) receives_ = lane.b->accept(listening.id, 1).value();
      lane.a->poll_state(*sends_);
    }
  }
  void run(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      auto* received = lane_.b->receive(*receives_, {in_.data(), in_.size(), &in_}).value();
      auto* sent = lane_.a->send(*sends_, {out_.data(), out_.size(), &out_}).value();
      finish(*lane_.a, sent);
      finish(*lane_.b, received);
      ++messages;
    }
  }
  bool right() const { return messages == 0 || in_ == out_; }
  std::uint64_t messages = 0;

 private:
  void finish(engine::Engine& engine, engine::Request* request) {
    engine::Request::Outcome outcome;
    while (request != nullptr &&
           engine.test(*request, outcome) == engine::Request::State::kPending) {
      // Either side may have something to do for the other.
      lane_.a->poll_state(*sends_);
      lane_.b->poll_state(*receives_);
    }
  }
  Lane& lane_;
  engine::Connection* sends_ = nullptr;
  engine::Connection* receives_ = nullptr;
  std::vector<std::byte> out_, in_;
};

double gbytes_per_second(bool shared, double seconds, std::size_t bytes) {
  std::array<Lane, 2> lanes;
  std::array<Stream, 2> streams{Stream(lanes[0], 1, bytes),
                                Stream(lanes[shared ? 0 : 1], 2, bytes)};
  std::atomic<bool> stop{false};
  const Time begin = engine::steady_now();
  std::thread other([&] { streams[1].run(stop); });
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
  });
  streams[0].run(stop);
  other.join();
  timer.join();
  const double took = std::chrono::duration<double>(engine::steady_now() - begin).count();
  std::uint64_t messages = 0;
  for (const Stream& stream : streams) {
    if (!stream.right()) {
      fmt::print(stderr, "bytes are wrong\n");
      std::exit(1);
    }
    messages += stream.messages;
  }
  return static_cast<double>(messages * bytes) / took / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 1;
  int rounds = 5;
  std::size_t kib = 256;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seconds") seconds = std::atof(argv[i + 1]);
    if (option == "--rounds") rounds = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--kib") kib = static_cast<std::size_t>(std::max(1, std::atoi(argv[i + 1])));
  }
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    const double one = gbytes_per_second(true, seconds, kib << 10);
    const double two = gbytes_per_second(false, seconds, kib << 10);
    ratios.push_back(two / one);
    fmt::print("two threads on one lane {:.2f} GB/s, on two {:.2f} GB/s: {:.2f}\n", one, two,
               two / one);
  }
  std::ranges::sort(ratios);
  fmt::print("median of {} rounds: two lanes carry {:.2f} of one\n", rounds,
             ratios[ratios.size() / 2]);
}
