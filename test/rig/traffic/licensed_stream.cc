// One connection between two engines that carries messages with a licence at full speed: it
// measures how a licensed flow affects other flows in a network, without NCCL.
//
//   licensed_stream receive BUDGET             prints ADDRESS and SECRET; ends with its sender
//   licensed_stream send BUDGET SECONDS ADDRESS SECRET
// BUDGET: P, 0 for exact messages. Both ends print one line of JSON at the end.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/devices/carrier.h"
#include "engine/host/clock.h"
#include "engine/lane/engine.h"
#include "engine/settings/environment.h"
#include "secrets.h"
#include "util/rng.h"

namespace {

using namespace dlcp;

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
constexpr std::size_t kUnderWay = 4;
constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kStages = kRanks - 1;  // that may lose data: partial sums

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "licensed_stream: {}\n", what);
  std::exit(1);
}

template <class T>
T need(Result<T> result) {
  if (!result) fail(result.error().message());
  return std::move(result).value();
}

core::Licence licence_of(std::uint64_t message, double budget) {
  core::Licence licence;
  licence.collective = budget > 0 ? message / kStages + 1 : 0;
  licence.result_bytes = std::uint64_t{kMessageBytes} * kRanks;
  licence.ranks = licence.hops = kRanks;
  licence.stage = static_cast<std::uint32_t>(message % kStages);
  licence.budget_ppm = static_cast<std::uint32_t>(budget * core::kBudgetScale);
  licence.element = gradient::ElementType::kFloat32;
  return licence;
}

// Large in places and small in others, like gradients: scales span three decades.
std::vector<float> gradient_values() {
  constexpr std::size_t kOneScale = 352;  // floats: what fits a packet
  std::vector<float> values(kMessageBytes / sizeof(float));
  Rng rng(1);
  float scale = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % kOneScale == 0) scale = static_cast<float>(std::pow(10.0, -3 * rng.unit()));
    values[i] = scale * (static_cast<float>(rng.unit()) - 0.5f);
  }
  return values;
}
std::vector<std::byte> gradient() {
  const std::vector<float> values = gradient_values();
  std::vector<std::byte> bytes(kMessageBytes);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// The energy of the data missing from received messages, relative to that sent.
class Energy {
 public:
  void weigh(std::span<const std::byte> message) {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      float came;
      std::memcpy(&came, message.data() + i * sizeof came, sizeof came);
      all_ += double{sent_[i]} * sent_[i];
      lost_ += (double{sent_[i]} - came) * (double{sent_[i]} - came);
    }
  }
  double lost_share() const { return all_ > 0 ? lost_ / all_ : 0; }

 private:
  const std::vector<float> sent_ = gradient_values();
  double all_ = 0;
  double lost_ = 0;
};

class Stream {
 public:
  explicit Stream(double budget) : budget_(budget) {
    auto settings =
        need(engine::load_settings(engine::process_environment(), engine::read_text_file));
    const auto devices = need(engine::choose_devices(settings));
    auto opened = need(engine::open_device(*devices.front().over(engine::kUdp), settings));
    engine_ = std::make_unique<engine::Engine>(
        std::move(opened.datapath), opened.config,
        test::secrets_of(static_cast<std::uint64_t>(std::time(nullptr))),
        [](const engine::LogLine& line) { fmt::print(stderr, "{}\n", line.text); },
        [](core::ContextId, const Error&) {});
    if (!engine_->start_helper()) fail("no thread");
  }

  void receive() {
    const auto listening = engine_->listen(1, 1);
    const auto& address = engine_->address();
    for (std::size_t i = 0; i < address.size; ++i)
      fmt::print("{:02x}", std::to_integer<unsigned>(address.bytes[i]));
    const wire::Key& secret = listening.invitation.secret;
    fmt::print(" {:016x}{:016x}\n", secret.low, secret.high);
    std::fflush(stdout);
    while (connection_ == nullptr)
      connection_ = need(engine_->accept(listening.id, 1));
    memory_.resize(kUnderWay, std::vector<std::byte>(kMessageBytes));
    run(kNever);
  }

  void send(Time until, const std::string& hex, const std::string& secret) {
    wire::EndpointAddress to;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      to.bytes[to.size++] =
          static_cast<std::byte>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
    }
    connection_ = engine_->connect(1,
                                   {1,
                                    {std::strtoull(secret.substr(0, 16).c_str(), nullptr, 16),
                                     std::strtoull(secret.substr(16).c_str(), nullptr, 16)}},
                                   to);
    while (engine_->poll_state(*connection_) != core::ConnectionState::kOpen)
      if (connection_->failed) fail(connection_->error.message());
    memory_.resize(kUnderWay, gradient());
    run(until);
  }

  void print() {
    const core::Counters counters = engine_->counters();
    fmt::print(
        "{{\"seconds\": {:.3f}, \"bytes\": {}, \"lost_bytes\": {}, "
        "\"lost_energy_share\": {:.6g}, ",
        std::chrono::duration<double>(last_ - first_).count(), bytes_, lost_, energy_.lost_share());
    fmt::print("\"needs\": {}, \"retransmitted_bytes\": {}, \"ce_marks\": {}}}\n",
               counters[core::Counter::kNeedsSent], counters[core::Counter::kBytesRetransmitted],
               counters[core::Counter::kCeMarksReceived]);
  }
  void close() {
    engine_->close(connection_);
    engine_->linger({.closes = 200ms});
  }

 private:
  void run(Time until) {
    std::deque<engine::Request*> requests;
    std::uint64_t posted = 0;
    first_ = last_ = engine::steady_now();
    while (!connection_->failed) {
      const bool more = engine::steady_now() < until;
      if (!more && requests.empty()) return;
      if (more && requests.size() < kUnderWay) {
        auto& memory = memory_[posted % kUnderWay];
        const engine::Memory at{memory.data(), memory.size(), nullptr};
        const core::Licence licence = licence_of(posted, budget_);
        auto request = connection_->sends ? engine_->send(*connection_, at, licence)
                                          : engine_->receive(*connection_, at, licence);
        if (request && request.value() != nullptr) {
          requests.push_back(request.value());
          ++posted;
        }
      }
      engine::Request::Outcome outcome;
      if (!requests.empty() &&
          engine_->test(*requests.front(), outcome) == engine::Request::State::kDone) {
        requests.pop_front();
        if (!connection_->sends) energy_.weigh(memory_[taken_++ % kUnderWay]);
        bytes_ += outcome.bytes;
        lost_ += outcome.lost;
        last_ = engine::steady_now();
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  double budget_;
  std::unique_ptr<engine::Engine> engine_;
  engine::Connection* connection_ = nullptr;
  std::vector<std::vector<std::byte>> memory_;
  std::uint64_t bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t taken_ = 0;  // messages received
  Energy energy_;            // at a receiver
  Time first_, last_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (!(what == "receive" && argc == 3) && !(what == "send" && argc == 6))
    fail("receive BUDGET | send BUDGET SECONDS ADDRESS SECRET");
  Stream stream(std::strtod(argv[2], nullptr));
  if (what == "receive") {
    stream.receive();
  } else {
    const auto length = static_cast<std::int64_t>(1e9 * std::strtod(argv[3], nullptr));
    stream.send(engine::steady_now() + Duration(length), argv[4], argv[5]);
    stream.close();
  }
  stream.print();
}
