// Sends packets of chosen traffic classes through the verbs datapath, from one RDMA device of this
// host to another, and counts the arrivals per class; then prints one JSON line. No protocol is
// involved: lost packets are not sent again.
//
//   roce_traffic FROM TO PACKETS-PER-SECOND SECONDS BYTES CLASS:WEIGHT...
// CLASS is a name of include/dlcp/traffic_class.h. Rate 0: full speed. A delayed sender catches up
// with at most one batch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "datapath/verbs/verbs_datapath.h"
#include "engine/host/clock.h"

namespace {

using namespace dlcp;

constexpr std::size_t kBatch = 32;
constexpr std::size_t kHeaderBytes = 40;  // as DLCP's own; the class is its first byte
constexpr Duration kQuiet = 500ms;        // after this time no packet is in flight

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "roce_traffic: {}\n", what);
  std::exit(1);
}

std::unique_ptr<datapath::VerbsDatapath> open(const std::string& device) {
  auto ports = datapath::choose_roce_ports("=" + device, -1, datapath::list_roce_ports());
  if (!ports) fail(ports.error().message());
  auto library = datapath::verbs_library();
  if (!library) fail(library.error().message());
  datapath::VerbsOptions options;
  options.port = ports.value().front();
  auto opened = datapath::VerbsDatapath::open(library.value(), options);
  if (!opened) fail(opened.error().message());
  return std::move(opened).value();
}

struct Tally {
  std::uint64_t sent = 0, received = 0, marked = 0;
};

class Traffic {
 public:
  Traffic(datapath::VerbsDatapath& from, datapath::VerbsDatapath& to, std::size_t bytes)
      : from_(from), to_(to), memory_(bytes - kHeaderBytes, std::byte{0x5a}), arrived_(64) {
    if (!from_.register_memory(memory_)) fail("cannot register memory");
  }
  ~Traffic() {
    from_.abandon(memory_);
    from_.release_memory(memory_);
  }

  void set_order(std::vector<TrafficClass> order) { order_ = std::move(order); }

  void run(double rate, Duration length) {
    const Time start = engine::steady_now();
    Time now = start;
    Time due = start;
    std::size_t next = 0;
    while (now < start + length) {
      if (rate <= 0 || now >= due) {
        send(next);
        next += kBatch;
        const auto step = Duration(rate > 0 ? static_cast<std::int64_t>(1e9 * kBatch / rate) : 0);
        due = std::max(due + step, now - step);
      }
      receive(now);
      now = engine::steady_now();
    }
    seconds_ = std::chrono::duration<double>(now - start).count();
    for (Time heard = now; now < heard + kQuiet; now = engine::steady_now())
      heard = receive(now) ? now : heard;
  }

  void print() const {
    std::string classes;
    for (const TrafficClassRow& row : kTrafficClasses) {
      const Tally& tally = tallies_[static_cast<std::size_t>(row.traffic_class)];
      if (tally.sent > 0) {
        classes += fmt::format("{}\"{}\": {{\"sent\": {}, \"received\": {}, \"ce\": {}}}",
                               classes.empty() ? "" : ", ", row.name, tally.sent, tally.received,
                               tally.marked);
      }
    }
    const auto& counters = from_.counters();
    fmt::print(
        "{{\"seconds\": {:.3f}, \"packets\": {}, \"completions\": {}, \"doorbells\": {}, "
        "\"wrong_marks\": {}, \"classes\": {{{}}}}}\n",
        seconds_, counters.tx_packets, counters.tx_completions, counters.tx_doorbells, wrong_marks_,
        classes);
  }

 private:
  void send(std::size_t first) {
    std::array<wire::TxPacket, kBatch> packets;
    for (std::size_t i = 0; i < kBatch; ++i) {
      wire::TxPacket& packet = packets[i];
      packet.traffic_class = order_[(first + i) % order_.size()];
      packet.path = static_cast<wire::PathIndex>((first + i) / 8 % from_.limits().paths);
      packet.header_bytes = kHeaderBytes;
      packet.header.fill(static_cast<std::byte>(packet.traffic_class));
      packet.payload = memory_;
      packet.destination = &to_.local_address();
    }
    std::size_t taken = from_.send(packets);
    while (taken < kBatch) {
      receive(engine::steady_now());
      taken += from_.send(std::span(packets).subspan(taken));
    }
    for (const wire::TxPacket& packet : packets)
      ++tallies_[static_cast<std::size_t>(packet.traffic_class)].sent;
  }

  bool receive(Time now) {
    from_.receive(now, arrived_);  // for its completions
    const std::size_t count = to_.receive(now, arrived_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& packet = arrived_[i];
      const auto traffic_class = std::to_integer<std::size_t>(packet.bytes[0]);
      if (traffic_class >= kTrafficClassCount) continue;
      const TrafficClassRow& row = kTrafficClasses[traffic_class];
      const bool ecn_as_sent = packet.ecn == row.ecn || packet.ecn == Ecn::kCe;
      wrong_marks_ += packet.dscp == row.dscp && ecn_as_sent ? 0 : 1;
      ++tallies_[traffic_class].received;
      tallies_[traffic_class].marked += packet.ecn == Ecn::kCe ? 1 : 0;
    }
    return count > 0;
  }

  datapath::VerbsDatapath& from_;
  datapath::VerbsDatapath& to_;
  std::vector<std::byte> memory_;
  std::vector<wire::RxPacket> arrived_;
  std::vector<TrafficClass> order_;
  std::array<Tally, kTrafficClassCount> tallies_{};
  std::uint64_t wrong_marks_ = 0;
  double seconds_ = 0;
};

// "exact:1" "bulk-droppable:3": one of the first, three of the second, repeatedly.
std::vector<TrafficClass> order_of(char** begin, char** end) {
  std::vector<TrafficClass> order;
  for (; begin != end; ++begin) {
    const char* const weight = std::strchr(*begin, ':');
    const std::string name(*begin, weight != nullptr ? static_cast<std::size_t>(weight - *begin)
                                                     : std::strlen(*begin));
    const auto row = std::ranges::find(
        kTrafficClasses, name, [](const TrafficClassRow& r) { return std::string(r.name); });
    if (row == kTrafficClasses.end()) fail("no traffic class " + name);
    order.insert(order.end(), weight != nullptr ? std::strtoul(weight + 1, nullptr, 10) : 1,
                 row->traffic_class);
  }
  return order;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) fail("FROM TO PACKETS-PER-SECOND SECONDS BYTES CLASS:WEIGHT...");
  const auto order = order_of(argv + 6, argv + argc);
  const std::size_t bytes = std::strtoul(argv[5], nullptr, 10);
  const auto from = open(argv[1]);
  const auto to = open(argv[2]);
  if (order.empty() || bytes <= kHeaderBytes || bytes > from->limits().datagram_bytes_max)
    fail("nothing to send, or an impossible packet size");
  Traffic traffic(*from, *to, bytes);
  traffic.set_order(order);
  traffic.run(std::strtod(argv[3], nullptr),
              Duration(static_cast<std::int64_t>(1e9 * std::strtod(argv[4], nullptr))));
  traffic.print();
}
