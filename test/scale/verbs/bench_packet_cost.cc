// The cost of a data packet in instructions: two endpoints of the core over two verbs datapaths on
// a minimal card in memory, in simulated time, with a stream of messages from one to the other. It
// prints the datapath's counts per packet; instructions are counted by running it under callgrind
// (scale/packet_cost); times are those of this machine. The turns of sender and receiver are
// separate functions so that each can be counted separately.
//
//   bench_packet_cost [--messages 64] [--entropy label|queue-pairs]
//                     [--protection header|full|encrypted] [--way datagrams|placed|both]
//
// With placement, the card writes the payloads into the receiver's buffers. `both` runs the two
// ways in turn, 16 messages each, and prints a line for each, whose times are medians of these
// turns.
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
#include "engine/pump/card_driver.h"
#include "scale/verbs/quick_verbs.h"
#include "secrets.h"
#include "util/memory/ordered_copy.h"

namespace {

using namespace dlcp;

constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
constexpr std::size_t kOutstanding = 8;
constexpr std::size_t kPackets = 64;  // per call, as in the engine
constexpr Duration kStep = 5us;
constexpr std::size_t kWirePackets = 16;  // per step: some 100 Gb/s
constexpr std::uint64_t kTurnMessages = 16;

using test::QuickVerbs;

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "bench_packet_cost: {}\n", what);
  std::exit(1);
}

struct Host {
  Host(const std::shared_ptr<QuickVerbs>& verbs, const char* ip, datapath::Entropy entropy,
       wire::Protection protection, bool places, std::uint64_t seed) {
    datapath::VerbsOptions options;
    options.port.device = "fake";
    options.port.entropy = entropy;
    options.port.gid.ip = datapath::parse_ip_address(ip).value();
    if (places) {
      options.placement.transport = datapath::PlacementTransport::kUc;
      options.placement.permissions = datapath::PermissionKind::kRegion;
    }
    datapath = datapath::VerbsDatapath::open(verbs, options).value();
    if (places) card = std::make_unique<engine::CardDriver>(*datapath->placer());
    core::Config config;
    config.datagram_bytes_max = datapath->limits().datagram_bytes_max;
    config.receive_capacity_bytes = datapath->limits().receive_capacity_bytes;
    config.paths = datapath->limits().paths;
    config.protection = protection;
    config.card = card.get();
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

  void place() {
    for (const core::Placement& placement : endpoint->placements())
      ordered_copy(placement.destination, placement.payload.data(), placement.payload.size());
  }
  void take_card(Time now) {
    constexpr std::size_t kBatch = engine::CardDriver::kBatch;
    for (std::size_t last = kBatch; last == kBatch;) {
      const auto runs = card->poll_runs(now);
      last = runs.size();
      for (const wire::PlacedRun& run : runs) {
        endpoint->on_placed_run(now, run);
        place();
      }
    }
    for (std::size_t last = kBatch; last == kBatch;) {
      const auto events = card->poll_events(now);
      last = events.size();
      for (const core::PermissionEvent& event : events) {
        endpoint->on_permission(now, event);
        place();
      }
    }
  }

  // The work of one engine step.
  inline __attribute__((always_inline)) void turn(Time now) {
    std::size_t count = 0;
    while ((count = datapath->receive(now, arrived)) > 0) {
      for (std::size_t i = 0; i < count;) {
        i += endpoint->on_packets(now, std::span(arrived).subspan(i, count - i));
        place();
      }
    }
    if (card) take_card(now);
    if (endpoint->next_timeout() <= now) endpoint->on_timeout(now);
    do {
      if (first == end) {
        first = 0;
        end = endpoint->poll_transmit(now, out);
      }
      const auto waiting = std::span(out).subspan(first, end - first);
      first += card ? card->send(*datapath, waiting) : datapath->send(waiting);
    } while (first == end && end > 0);
  }

  std::unique_ptr<datapath::VerbsDatapath> datapath;
  std::unique_ptr<engine::CardDriver> card;  // null: payloads are copied
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
         wire::Protection protection, bool places)
      : verbs(card),
        a(card, "10.0.0.1", entropy, protection, places, 1),
        b(card, "10.0.0.2", entropy, protection, places, 2) {
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
    const auto middle = std::chrono::steady_clock::now();
    verbs->advance(kWirePackets);
    const auto arrived = std::chrono::steady_clock::now();
    receiver_turn(b, now);
    sending += middle - begin;
    receiving += std::chrono::steady_clock::now() - arrived;
  }

  // Sends that many more messages.
  void run(std::uint64_t more) {
    const auto before = packets();
    const auto sending_before = sending, receiving_before = receiving;
    const std::uint64_t messages = done + more;
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
    const auto count = static_cast<double>(packets() - before);
    turns[0].push_back(ns(sending - sending_before) / count);
    turns[1].push_back(ns(receiving - receiving_before) / count);
  }
  std::uint64_t packets() const { return a.endpoint->counters()[core::Counter::kPacketsSent]; }
  static double ns(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::nano>(time).count();
  }
  void print(const char* way);

  std::uint64_t sent = 0, received = 0, done = 0;  // messages
  std::array<std::vector<double>, 2> turns;        // ns per packet to send and to receive, by run()
  Time now = time_from_ns(1'000'000'000);
  std::shared_ptr<QuickVerbs> verbs;
  Host a, b;
  core::ConnectionId sends = 0, receives = 0;
  std::chrono::steady_clock::duration sending{0}, receiving{0};  // real time
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void Stream::print(const char* way) {
  const auto& tx = a.datapath->counters();
  const auto& back = b.datapath->counters();
  const auto data = static_cast<double>(packets());
  const auto counted = [](const Host& host, std::string_view name) {
    for (const datapath::NamedCount& count : host.datapath->counts())
      if (count.name == name) return static_cast<double>(count.value);
    return 0.0;
  };
  const double placed = counted(b, "placed_rx_packets");
  const double posted = static_cast<double>(tx.tx_packets) + counted(a, "placed_tx_packets");
  fmt::print(
      "{{\"way\": \"{}\", \"data_packets\": {:.0f}, \"placed\": {:.0f}, \"control_packets\": "
      "{:.0f}, "
      "\"sent_again\": {}, "
      "\"completions_per_packet\": {:.4f}, \"doorbells_per_packet\": {:.4f}, "
      "\"acks_per_packet\": {:.4f}, \"refills_per_packet\": {:.4f}, "
      "\"sender_ns_per_packet\": {:.0f}, \"receiver_ns_per_packet\": {:.0f}, "
      "\"receiver_gbps\": {:.1f}}}\n",
      way, data, placed, posted - data + static_cast<double>(back.tx_packets),
      a.endpoint->counters()[core::Counter::kPacketsRetransmitted],
      static_cast<double>(tx.tx_completions) / static_cast<double>(tx.tx_packets),
      static_cast<double>(tx.tx_doorbells) / static_cast<double>(tx.tx_packets),
      static_cast<double>(back.tx_packets) / data, static_cast<double>(back.rx_refills) / data,
      median(turns[0]), median(turns[1]),
      static_cast<double>(done * kMessageBytes * 8) / data / median(turns[1]));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t messages = 64;
  auto entropy = datapath::Entropy::kFlowLabel;
  auto protection = wire::Protection::kHeader;
  std::string way = "datagrams";
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
    else if (option == "--way")
      way = argv[i + 1];
    else if (option != "--entropy" && option != "--protection")
      fail("see the head of bench_packet_cost.cc for its options");
  }
  std::vector<std::pair<const char*, std::unique_ptr<Stream>>> streams;
  for (const char* one : {"datagrams", "placed"})
    if (way == "both" || way == one)
      streams.emplace_back(one, std::make_unique<Stream>(std::make_shared<QuickVerbs>(), entropy,
                                                         protection, one[0] == 'p'));
  const std::uint64_t turn = streams.size() == 1 ? messages : kTurnMessages;
  for (std::uint64_t begun = 0; begun < messages; begun += turn)
    for (const auto& [name, stream] : streams)
      stream->run(turn);
  for (const auto& [name, stream] : streams)
    stream->print(name);
}
