// The cost of a data packet in instructions: two endpoints of the core over two verbs datapaths on
// a minimal card in memory, in simulated time, with a stream of messages from one to the other. It
// prints the datapath's counts per packet; instructions are counted by running it under callgrind
// (scale/packet_cost); times are those of this machine. The turns of sender and receiver are
// separate functions so that each can be counted separately.
//
//   bench_packet_cost [--messages 64] [--entropy label|queue-pairs]
//                     [--protection header|full|encrypted]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/endpoint.h"
#include "datapath/verbs/verbs_datapath.h"
#include "engine/host/libcrypto.h"
#include "scale/quick_verbs.h"
#include "secrets.h"
#include "util/ordered_copy.h"

namespace {

using namespace dlcp;

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
constexpr std::size_t kOutstanding = 8;
constexpr std::size_t kPackets = 64;  // per call, as in the engine
constexpr Duration kStep = 5us;
constexpr std::size_t kWirePackets = 16;  // per step: some 100 Gb/s

using test::QuickVerbs;

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "bench_packet_cost: {}\n", what);
  std::exit(1);
}

struct Host {
  Host(const std::shared_ptr<QuickVerbs>& verbs, const char* ip, datapath::Entropy entropy,
       wire::Protection protection, std::uint64_t seed) {
    datapath::VerbsOptions options;
    options.port.device = "fake";
    options.port.entropy = entropy;
    options.port.gid.ip = datapath::parse_ip_address(ip).value();
    datapath = datapath::VerbsDatapath::open(verbs, options).value();
    core::Config config;
    config.datagram_bytes_max = datapath->limits().datagram_bytes_max;
    config.receive_capacity_bytes = datapath->limits().receive_capacity_bytes;
    config.paths = datapath->limits().paths;
    config.protection = protection;
    if (protection == wire::Protection::kEncrypted)
      config.ciphers = engine::libcrypto_ciphers().value();
    endpoint =
        std::make_unique<core::Endpoint>(config, datapath->local_address(), test::secrets_of(seed));
    memory.resize(kOutstanding * kMessageBytes);
    if (!datapath->register_memory(memory)) fail("no memory registered");
  }

  std::span<std::byte> message(std::uint64_t number) {
    return std::span(memory).subspan(number % kOutstanding * kMessageBytes, kMessageBytes);
  }

  // The work of one engine step.
  inline __attribute__((always_inline)) void turn(Time now) {
    std::size_t count = 0;
    while ((count = datapath->receive(now, arrived)) > 0) {
      for (std::size_t i = 0; i < count;) {
        i += endpoint->on_packets(now, std::span(arrived).subspan(i, count - i));
        for (const core::Placement& placement : endpoint->placements())
          ordered_copy(placement.destination, placement.payload.data(), placement.payload.size());
      }
    }
    if (endpoint->next_timeout() <= now) endpoint->on_timeout(now);
    do {
      if (first == end) {
        first = 0;
        end = endpoint->poll_transmit(now, out);
      }
      first += datapath->send(std::span(out).subspan(first, end - first));
    } while (first == end && end > 0);
  }

  std::unique_ptr<datapath::VerbsDatapath> datapath;
  std::unique_ptr<core::Endpoint> endpoint;
  std::vector<std::byte> memory;
  std::vector<wire::RxPacket> arrived = std::vector<wire::RxPacket>(kPackets);
  std::vector<wire::TxPacket> out = std::vector<wire::TxPacket>(kPackets);
  std::size_t first = 0, end = 0;  // not yet consumed part of `out`
};

__attribute__((noinline)) void sender_turn(Host& host, Time now) {
  asm volatile("# sender");  // so that the compiler does not merge the two functions
  host.turn(now);
}
__attribute__((noinline)) void receiver_turn(Host& host, Time now) {
  asm volatile("# receiver");
  host.turn(now);
}

struct Stream {
  Stream(const std::shared_ptr<QuickVerbs>& card, datapath::Entropy entropy,
         wire::Protection protection)
      : verbs(card),
        a(card, "10.0.0.1", entropy, protection, 1),
        b(card, "10.0.0.2", entropy, protection, 2) {
    const auto listening = b.endpoint->listen(1, 1);
    sends = a.endpoint->connect(now, 1, listening.invitation, b.datapath->local_address());
    for (int i = 0; i < 1000 && receives == 0; ++i) {
      turn();
      receives = b.endpoint->accept(listening.id).value_or(0);
    }
    if (receives == 0) fail("no connection");
  }

  void turn() {
    now += kStep;
    const auto begin = std::chrono::steady_clock::now();
    sender_turn(a, now);
    const auto sent = std::chrono::steady_clock::now();
    verbs->advance(kWirePackets);
    const auto arrived = std::chrono::steady_clock::now();
    receiver_turn(b, now);
    sending += sent - begin;
    receiving += std::chrono::steady_clock::now() - arrived;
  }

  void run(std::uint64_t messages) {
    std::uint64_t sent = 0, received = 0, done = 0;
    while (done < messages) {
      while (received < std::min(messages, done + kOutstanding) &&
             b.endpoint->post_receive(now, receives, received, b.message(received)))
        ++received;
      while (sent < std::min(messages, done + kOutstanding) &&
             a.endpoint->post_send(now, sends, sent, a.message(sent)))
        ++sent;
      turn();
      while (const auto event = a.endpoint->poll_event())
        done += event->kind == core::Event::Kind::kSendDone ? 1 : 0;
      while (b.endpoint->poll_event()) {
      }
    }
  }

  Time now = time_from_ns(1'000'000'000);
  std::shared_ptr<QuickVerbs> verbs;
  Host a, b;
  core::ConnectionId sends = 0, receives = 0;
  std::chrono::steady_clock::duration sending{0}, receiving{0};  // real time
};

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 64;
  auto entropy = datapath::Entropy::kFlowLabel;
  auto protection = wire::Protection::kHeader;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--messages")
      messages = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--entropy" && std::string(argv[i + 1]) == "queue-pairs")
      entropy = datapath::Entropy::kQueuePairs;
    else if (option == "--protection" && std::string(argv[i + 1]) == "full")
      protection = wire::Protection::kFull;
    else if (option == "--protection" && std::string(argv[i + 1]) == "encrypted")
      protection = wire::Protection::kEncrypted;
    else if (option != "--entropy" && option != "--protection")
      fail("[--messages N] [--entropy label|queue-pairs] [--protection header|full|encrypted]");
  }
  const auto ns = [](auto time) { return std::chrono::duration<double, std::nano>(time).count(); };
  const auto verbs = std::make_shared<QuickVerbs>();
  Stream stream(verbs, entropy, protection);
  stream.run(messages);
  const auto& tx = stream.a.datapath->counters();
  const auto& back = stream.b.datapath->counters();
  const auto data = static_cast<double>(stream.a.endpoint->counters()[core::Counter::kPacketsSent]);
  fmt::print(
      "{{\"data_packets\": {:.0f}, \"control_packets\": {}, \"sent_again\": {}, "
      "\"completions_per_packet\": {:.4f}, \"doorbells_per_packet\": {:.4f}, "
      "\"acks_per_packet\": {:.4f}, \"refills_per_packet\": {:.4f}, "
      "\"sender_ns_per_packet\": {:.0f}, \"receiver_ns_per_packet\": {:.0f}, "
      "\"receiver_gbps\": {:.1f}}}\n",
      data, tx.tx_packets - static_cast<std::uint64_t>(data) + back.tx_packets,
      stream.a.endpoint->counters()[core::Counter::kPacketsRetransmitted],
      static_cast<double>(tx.tx_completions) / static_cast<double>(tx.tx_packets),
      static_cast<double>(tx.tx_doorbells) / static_cast<double>(tx.tx_packets),
      static_cast<double>(back.tx_packets) / data, static_cast<double>(back.rx_refills) / data,
      ns(stream.sending) / data, ns(stream.receiving) / data,
      static_cast<double>(messages * kMessageBytes * 8) / ns(stream.receiving));
}
