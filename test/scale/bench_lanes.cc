// Whether lanes work in parallel, measured alternately with one lane and with two:
// - two threads, each with its own stream of messages. A lane is a pair of engines with memory
//   between them instead of NICs, so that only DLCP's own code is measured: both sides, including
//   the copy;
// - one thread with one connection that only sends, or only receives, beside the lanes' helper
//   threads. The other end is a core that the lane's own thread drives (far_end.h).
//
//   bench_lanes [--seconds 1] [--rounds 5] [--kib 256]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "datapath/address/device_address.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/opening/gathering.h"
#include "engine/opening/opening.h"
#include "far_end.h"
#include "secrets.h"

namespace {

using namespace dlcp;

// Packets from one side to the other; the two sides of a lane run under separate locks, so the
// cable has one too.
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
    }
    return taken;
  }
  // The packets returned by the last call are freed here.
  std::size_t take(Time now, std::span<wire::RxPacket> out) {
    const std::lock_guard lock(mutex_);
    begin_ += handed_out_;
    handed_out_ = std::min(out.size(), end_ - begin_);
    for (std::size_t i = 0; i < handed_out_; ++i) {
      const Slot& slot = slots_[(begin_ + i) % kSlots];
      out[i] = {};
      out[i].bytes = std::span(slot.data).first(slot.bytes);
      out[i].arrived_at = now;
    }
    return handed_out_;
  }

 private:
  struct Slot {
    std::array<std::byte, kSlotBytes> data;
    std::size_t bytes = 0;
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

// Messages from a to b, one after the other, until it is stopped.
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
      // Either side may have packets for the other.
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

// One connection over `lanes` lanes, to or from far ends.
class Spread {
 public:
  Spread(std::size_t lanes, bool sends, std::size_t bytes)
      : sends_(sends), buffers_(kOutstanding, std::vector<std::byte>(bytes, std::byte{1})) {
    std::vector<engine::Lane> opened;
    for (std::size_t i = 0; i < lanes; ++i) {
      auto datapath = std::make_unique<test::FarEnd>(address_of(1, i), address_of(2, i), bytes);
      far_.push_back(datapath.get());
      engines_.push_back(std::make_shared<engine::Engine>(
          std::move(datapath), test::FarEnd::config(), test::secrets_of(1),
          [](const engine::LogLine& line) { fmt::print(stderr, "{}\n", line.text); },
          [](core::ContextId, const Error&) {}));
      opened.push_back({&engine::kUdp, engines_.back()});
    }
    port_ = engine::Port(std::move(opened));
    const auto begin = sends ? open_sending() : open_receiving();
    for (const auto& engine : engines_)
      (void)engine->start_helper(lanes > 1);
    while (bundle_.empty()) {
      for (const auto& engine : engines_)
        engine->drive();
      begin();
    }
  }
  ~Spread() {
    for (const auto& engine : engines_)
      engine->stop();
  }

  double gbytes_per_second(double seconds) {
    std::deque<engine::Request*> posted;
    std::size_t next = 0;
    std::uint64_t messages = 0;
    const Time begin = engine::steady_now();
    const Time end =
        begin + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    while (engine::steady_now() < end) {
      while (posted.size() < kOutstanding) {
        auto& buffer = buffers_[next];
        const engine::Memory memory{buffer.data(), buffer.size(), &buffer};
        auto* request = (sends_ ? bundle_.send(memory) : bundle_.receive(memory)).value();
        if (request == nullptr) break;
        posted.push_back(request);
        next = (next + 1) % kOutstanding;
      }
      engine::Request::Outcome outcome;
      engine::Request* const first = posted.front();
      if (first->connection->engine->test(*first, outcome) == engine::Request::State::kDone) {
        posted.pop_front();
        ++messages;
      }
    }
    const double took = std::chrono::duration<double>(engine::steady_now() - begin).count();
    return static_cast<double>(messages * buffers_[0].size()) / took / 1e9;
  }

 private:
  static constexpr std::size_t kOutstanding = 8;

  static wire::EndpointAddress address_of(unsigned host, std::size_t lane) {
    datapath::DeviceAddress address;
    address.ip = datapath::parse_ip_address(fmt::format("10.0.0.{}", host)).value();
    address.add(datapath::LocatorKind::kUdpPort, static_cast<std::uint32_t>(50'000 + lane));
    return encode(address);
  }
  std::function<void()> open_sending() {
    core::Listening listening;
    for (std::size_t i = 0; i < far_.size(); ++i) {
      std::vector<wire::EndpointAddress> beside;
      for (std::size_t other = 0; other < far_.size(); ++other)
        if (other != i) beside.push_back(address_of(2, other));
      listening = far_[i]->take(std::move(beside));
    }
    const auto to = address_of(2, 0);
    opening_.emplace(port_, 1, engine::Opening::Peer{listening.invitation, to},
                     engine::Route{&engine::kUdp, to, {}}, 1s, engine::Opening::Over::kAllLanes);
    return [this] {
      if (opening_->poll() == core::ConnectionState::kOpen) bundle_ = opening_->bundle();
    };
  }
  std::function<void()> open_receiving() {
    core::Listening listening;
    for (const engine::Lane& lane : port_.lanes()) {
      listening = lane.engine->listen(1, 1, port_.addresses_beside(lane));
      listeners_.push_back(listening.id);
    }
    wire::Membership membership;
    membership.lanes = static_cast<std::uint8_t>(far_.size());
    for (test::FarEnd* far : far_) {
      const auto id = far->bring(listening.invitation, membership);
      if (membership.member == 0) membership.bundle = id;
      ++membership.member;
    }
    return [this] { bundle_ = gathering_.accept(port_, port_, listeners_, 1, 30s).value(); };
  }

  const bool sends_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<test::FarEnd*> far_;
  std::vector<std::shared_ptr<engine::Engine>> engines_;
  engine::Port port_;
  std::optional<engine::Opening> opening_;
  std::vector<core::ListenerId> listeners_;
  engine::Gathering gathering_;
  engine::Bundle bundle_;
};

double gbytes_per_second(std::size_t lanes, bool sends, double seconds, std::size_t bytes) {
  Spread spread(lanes, sends, bytes);
  spread.gbytes_per_second(seconds / 5);
  return spread.gbytes_per_second(seconds);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
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
  const std::size_t bytes = kib << 10;
  std::array<std::vector<double>, 3> ratios;
  const auto measure = [&](std::vector<double>& into, const char* what, auto one_lane,
                           auto two_lanes) {
    const double one = one_lane();
    const double two = two_lanes();
    into.push_back(two / one);
    fmt::print("{}: on one lane {:.2f} GB/s, on two {:.2f}: {:.2f}\n", what, one, two, two / one);
  };
  for (int round = 0; round < rounds; ++round) {
    measure(
        ratios[0], "two threads", [&] { return gbytes_per_second(true, seconds, bytes); },
        [&] { return gbytes_per_second(false, seconds, bytes); });
    for (const bool sends : {true, false}) {
      measure(
          ratios[sends ? 1 : 2], sends ? "one connection, sending" : "one connection, receiving",
          [&] { return gbytes_per_second(std::size_t{1}, sends, seconds, bytes); },
          [&] { return gbytes_per_second(std::size_t{2}, sends, seconds, bytes); });
    }
  }
  fmt::print(
      "medians of {} rounds: two lanes carry {:.2f} of one for two threads, of one connection "
      "{:.2f} "
      "sending and {:.2f} receiving\n",
      rounds, median(ratios[0]), median(ratios[1]), median(ratios[2]));
}
