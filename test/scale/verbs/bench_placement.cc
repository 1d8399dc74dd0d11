// The datapath's part of the cost of a packet, without the protocol core: datagrams that are copied
// into the receiver's memory, against packets that the card places there. Both go over a minimal
// card in memory, whose own work is not measured. The time includes the calls of the card.
//
//   bench_placement [--packets 1000000] [--burst 64] [--paths 16] [--only datagrams|placed]
// Prints one JSON line for each way. For instructions, run it under callgrind with
// --toggle-collect='send_turn*' or 'receive_turn*'.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/verbs/verbs_datapath.h"
#include "scale/verbs/quick_verbs.h"
#include "util/memory/ordered_copy.h"

namespace {

using namespace dlcp;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPacketBytes = 4096;
constexpr std::size_t kHeaderBytes = 44;  // of a datagram, as DLCP's own
constexpr std::size_t kSegment = 128;     // packets: 512 KiB, NCCL's usual message

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "bench_placement: {}\n", what);
  std::exit(1);
}

struct Host {
  Host(const std::shared_ptr<test::QuickVerbs>& card, const char* ip, std::size_t paths) {
    datapath::VerbsOptions options;
    options.port.device = "fake";
    options.port.entropy = datapath::Entropy::kFlowLabel;
    options.port.gid.ip = datapath::parse_ip_address(ip).value();
    options.paths = paths;
    options.placement.transport = datapath::PlacementTransport::kUc;
    options.placement.permissions = datapath::PermissionKind::kRegion;
    datapath = datapath::VerbsDatapath::open(card, options).value();
    memory.resize(kSegment * kPacketBytes);
    if (!datapath->register_memory(memory)) fail("no memory registered");
  }
  datapath::Placer& placer() { return *datapath->placer(); }
  std::span<std::byte> packet(std::size_t number, std::size_t bytes) {
    return std::span(memory).subspan(number % kSegment * kPacketBytes, bytes);
  }

  std::unique_ptr<datapath::VerbsDatapath> datapath;
  std::vector<std::byte> memory;
};

// Sends bursts from a to b, one path each.
class Way {
 public:
  Way(Host& a, Host& b, std::size_t burst, std::size_t paths)
      : a_(a), b_(b), burst_(burst), paths_(paths) {}
  virtual ~Way() = default;
  // Both are what is measured, for `burst` packets.
  virtual void send_turn() = 0;
  virtual std::size_t receive_turn() = 0;
  virtual void prepare(std::size_t first) = 0;

 protected:
  wire::PathIndex path_of(std::size_t first) const {
    return static_cast<wire::PathIndex>(first / burst_ % paths_);
  }
  Host& a_;
  Host& b_;
  const std::size_t burst_, paths_;
  Time now_{};
};

class Datagrams final : public Way {
 public:
  using Way::Way;
  void prepare(std::size_t first) override {
    packets_.resize(burst_);
    arrived_.resize(burst_);
    first_ = first;
    for (std::size_t i = 0; i < burst_; ++i) {
      wire::TxPacket& packet = packets_[i];
      packet.header_bytes = kHeaderBytes;
      packet.traffic_class = TrafficClass::kExact;
      packet.path = path_of(first);
      packet.payload = a_.packet(first + i, kPacketBytes - kHeaderBytes);
      packet.destination = &b_.datapath->local_address();
    }
  }
  [[gnu::noinline]] void send_turn() override {
    if (a_.datapath->send(packets_) != burst_) fail("the queue is full");
  }
  [[gnu::noinline]] std::size_t receive_turn() override {
    const std::size_t count = b_.datapath->receive(now_, arrived_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto payload = arrived_[i].bytes.subspan(kHeaderBytes);
      ordered_copy(b_.packet(first_ + i, payload.size()).data(), payload.data(), payload.size());
    }
    return count;
  }

 private:
  std::vector<wire::TxPacket> packets_;
  std::vector<wire::RxPacket> arrived_;
  std::size_t first_ = 0;
};

class PlacedPackets final : public Way {
 public:
  PlacedPackets(Host& a, Host& b, std::size_t burst, std::size_t paths)
      : Way(a, b, burst, paths), runs_(burst) {
    link_ = a.placer().open_link(b.datapath->local_address(), {}).value();
    const auto back = b.placer().open_link(a.datapath->local_address(), {}).value();
    if (!a.placer().widen(link_, TrafficClass::kExact, paths)) fail("no queue pairs");
    for (int round = 0; round < 2; ++round)
      if (!b.placer().connect(back, a.placer().introduction(link_).view()) ||
          !a.placer().connect(link_, b.placer().introduction(back).view()))
        fail("the link does not connect");
    b.placer().permit(back, b.memory);
    datapath::PermissionEvent event;
    if (b.placer().poll_permissions(now_, std::span(&event, 1)) != 1) fail("no permission");
    permission_ = event.permission;
  }
  void prepare(std::size_t first) override {
    packets_.resize(burst_);
    for (std::size_t i = 0; i < burst_; ++i) {
      const std::size_t index = (first + i) % kSegment;
      datapath::PlacedPacket& packet = packets_[i];
      packet.way = {link_, TrafficClass::kExact, path_of(first)};
      packet.index = {1, static_cast<std::uint8_t>((first + i) / kSegment),
                      static_cast<std::uint16_t>(index)};
      packet.address = permission_.address + index * kPacketBytes;
      packet.key = permission_.key;
      packet.payload = a_.packet(index, kPacketBytes);
    }
  }
  [[gnu::noinline]] void send_turn() override {
    if (a_.placer().place(packets_) != burst_) fail("the queue is full");
  }
  [[gnu::noinline]] std::size_t receive_turn() override {
    const std::size_t count = b_.placer().placed(now_, runs_);
    std::size_t packets = 0;
    for (std::size_t i = 0; i < count; ++i)
      packets += runs_[i].packets;
    return packets;
  }

 private:
  std::vector<datapath::PlacedPacket> packets_;
  std::vector<datapath::PlacedRun> runs_;
  datapath::LinkId link_{};
  datapath::Permission permission_;
};

void measure(const char* name, Way& way, test::QuickVerbs& card, std::size_t packets,
             std::size_t burst) {
  std::vector<Clock::duration> sending, receiving;  // by burst
  std::size_t received = 0;
  for (std::size_t first = 0; first < packets; first += burst) {
    way.prepare(first);
    const auto begin = Clock::now();
    way.send_turn();
    sending.push_back(Clock::now() - begin);
    card.advance(burst);
    const auto arrived = Clock::now();
    received += way.receive_turn();
    receiving.push_back(Clock::now() - arrived);
  }
  // The median, because bursts that were interrupted say nothing.
  const auto per_packet = [&](std::vector<Clock::duration>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return std::chrono::duration<double, std::nano>(*middle).count() / static_cast<double>(burst);
  };
  fmt::print(
      "{{\"way\": \"{}\", \"packets\": {}, \"received\": {}, \"send_ns\": {:.1f}, "
      "\"receive_ns\": {:.1f}, \"send_mpps\": {:.1f}, \"receive_mpps\": {:.1f}}}\n",
      name, packets, received, per_packet(sending), per_packet(receiving),
      1e3 / per_packet(sending), 1e3 / per_packet(receiving));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t packets = 1000000;
  std::size_t burst = 64;
  std::size_t paths = 16;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--only") only = argv[i + 1];
    const std::size_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--packets") packets = value;
    if (option == "--burst") burst = std::clamp<std::size_t>(value, 1, 64);
    if (option == "--paths") paths = std::clamp<std::size_t>(value, 1, 16);
  }
  packets = std::max(packets / burst, std::size_t{1}) * burst;
  const auto card = std::make_shared<test::QuickVerbs>();
  Host a(card, "10.0.0.1", paths);
  Host b(card, "10.0.0.2", paths);
  Datagrams datagrams(a, b, burst, paths);
  PlacedPackets placed(a, b, burst, paths);
  if (only != "placed") measure("datagrams, copied", datagrams, *card, packets, burst);
  if (only != "datagrams") measure("placed", placed, *card, packets, burst);
}
