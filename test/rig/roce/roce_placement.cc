// Sends messages from one RDMA device of this host to another by packets that the card places, and
// checks that no byte of a buffer changes after its permission is revoked: the buffer is then
// filled with a canary, as an application would use it for something else. Acknowledgements travel
// inside the process without delay, so that a buffer is taken back at the first moment that the
// rule allows. Prints one JSON line.
//
//   roce_placement FROM TO SECONDS revoke|none [rc]
// `none` takes buffers back without revoking, to show that the network makes the check necessary.
// `rc`: over reliable queue pairs, where a packet is sent again only if its path has failed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datapath/verbs/verbs_datapath.h"
#include "datapath/verbs/verbs_options.h"
#include "engine/host/clock.h"
#include "util/rng.h"

namespace {

using namespace dlcp;
using datapath::PermissionEvent;

constexpr std::size_t kPacketBytes = 4096;
constexpr std::uint16_t kSegment = 16;  // packets of a message
constexpr std::size_t kSlots = 4;
constexpr std::size_t kPaths = 8;
constexpr Duration kRepeatAfter = 30ms;
constexpr Duration kHold = 4ms;  // how long a canary is watched at least
constexpr std::byte kCanary{0xee};

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "roce_placement: {}\n", what);
  std::exit(1);
}

struct Side {
  Side(const std::string& device, bool only_reliable, datapath::PlacementAbility& ability)
      : memory(kSlots * kSegment * kPacketBytes, kCanary) {
    auto ports = datapath::choose_roce_ports("=" + device, -1, datapath::list_roce_ports());
    if (!ports) fail(ports.error().message());
    auto tested = datapath::test_placement(ports.value().front(), only_reliable);
    if (!tested) fail(tested.error().message());
    ability = tested.value();
    if (!ability.places()) fail(device + " places no packets: " + ability.reason);
    datapath::VerbsOptions options;
    options.port = ports.value().front();
    options.placement = ability;
    auto library = datapath::verbs_library();
    if (!library) fail(library.error().message());
    auto opened = datapath::VerbsDatapath::open(library.value(), options);
    if (!opened) fail(opened.error().message());
    datapath = std::move(opened).value();
    if (auto added = datapath->register_memory(memory); !added) fail(added.error().message());
  }
  ~Side() {
    datapath->abandon(memory);
    datapath->release_memory(memory);
  }
  datapath::Placer& placer() { return *datapath->placer(); }
  std::span<std::byte> slot(std::size_t s) {
    return std::span(memory).subspan(s * kSegment * kPacketBytes, kSegment * kPacketBytes);
  }

  std::unique_ptr<datapath::VerbsDatapath> datapath;
  std::vector<std::byte> memory;
  datapath::LinkId link{};
};

struct Slot {
  enum class State { kFree, kPermitting, kSending, kRevoking, kTakenBack };
  State state = State::kFree;
  datapath::PermissionId id{};
  datapath::Permission permission;
  std::uint8_t generation = 0;
  std::vector<bool> arrived = std::vector<bool>(kSegment);
  std::vector<Time> sent_at = std::vector<Time>(kSegment);
  std::vector<wire::PathIndex> path = std::vector<wire::PathIndex>(kSegment);
  std::vector<std::uint32_t> failures = std::vector<std::uint32_t>(kSegment);  // of the path
  Time until;
};

class Messages {
 public:
  Messages(Side& from, Side& to, bool revokes) : from_(from), to_(to), revokes_(revokes) {
    connect();
  }

  void run(Duration length) {
    const Time start = engine::steady_now();
    for (now_ = start; now_ < start + length; now_ = engine::steady_now()) {
      for (std::size_t s = 0; s < kSlots; ++s)
        turn(s);
      receive();
      settle();
      if (is_reliable_) introduce();
    }
    seconds_ = std::chrono::duration<double>(now_ - start).count();
  }

  void print(const datapath::PlacementAbility& ability) const {
    const auto count_of = [&](std::string_view name) {
      const auto counts = to_.datapath->counts();
      return std::ranges::find(counts, name, &datapath::NamedCount::name)->value;
    };
    std::uint32_t failed = 0;
    for (std::size_t path = 0; path < kPaths; ++path)
      failed += failures_of(static_cast<wire::PathIndex>(path)) / 2;
    fmt::print(
        "{{\"ability\": \"{}\", \"permit_us\": {:.0f}, \"messages\": {}, \"wrong\": {}, "
        "\"canaries_broken\": {}, \"packets\": {}, \"repeated\": {}, \"arrived\": {}, "
        "\"bytes_placed_by_nic\": {}, \"refused\": {}, \"rx_errors\": {}, \"paths_failed\": {}, "
        "\"seconds\": {:.2f}}}\n",
        to_string(ability), std::chrono::duration<double, std::micro>(ability.permit_time).count(),
        messages_, wrong_, broken_, sent_, repeated_, count_of("placed_rx_packets"),
        count_of("bytes_placed_by_nic"), count_of("permissions_refused"),
        count_of("placed_rx_errors"), failed, seconds_);
  }

 private:
  void connect() {
    const auto opened = [](auto result) {
      if (!result) fail(result.error().message());
      return result.value();
    };
    from_.link = opened(from_.placer().open_link(to_.datapath->local_address(), {}));
    to_.link = opened(to_.placer().open_link(from_.datapath->local_address(), {}));
    opened(from_.placer().widen(from_.link, TrafficClass::kExact, kPaths));
    for (int round = 0; round < 2; ++round) {
      opened(to_.placer().connect(to_.link, from_.placer().introduction(from_.link).view()));
      opened(from_.placer().connect(from_.link, to_.placer().introduction(to_.link).view()));
    }
    if (from_.placer().paths(from_.link, TrafficClass::kExact).count() != kPaths)
      fail("paths are missing");
    is_reliable_ = from_.placer().link_limits(from_.link).is_reliable;
  }

  // Connects paths again that have failed.
  void introduce() {
    if (from_.placer().introduction_version(from_.link) == version_) return;
    for (int round = 0; round < 2; ++round) {
      (void)to_.placer().connect(to_.link, from_.placer().introduction(from_.link).view());
      (void)from_.placer().connect(from_.link, to_.placer().introduction(to_.link).view());
    }
    version_ = from_.placer().introduction_version(from_.link);
  }

  std::uint32_t failures_of(wire::PathIndex path) const {
    return from_.placer().failures(from_.link, TrafficClass::kExact, path);
  }

  bool is_due(const Slot& slot, std::uint16_t index) const {
    if (slot.arrived[index]) return false;
    const bool is_first = slot.sent_at[index] == Time{};
    if (!is_reliable_ || is_first) return now_ - slot.sent_at[index] >= kRepeatAfter;
    return failures_of(slot.path[index]) != slot.failures[index];
  }

  void turn(std::size_t s) {
    Slot& slot = slots_[s];
    if (slot.state == Slot::State::kTakenBack && now_ >= slot.until &&
        !from_.datapath->reads(from_.slot(s))) {
      const bool intact =
          std::ranges::all_of(to_.slot(s), [](std::byte byte) { return byte == kCanary; });
      broken_ += intact ? 0 : 1;
      slot.state = Slot::State::kFree;
    }
    if (slot.state == Slot::State::kFree) {
      for (std::size_t at = 0; at < from_.slot(s).size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = rng_.next();
        std::memcpy(&from_.slot(s)[at], &word, sizeof word);
      }
      slot.id = to_.placer().permit(to_.link, to_.slot(s));
      slot.state = Slot::State::kPermitting;
    }
    if (slot.state != Slot::State::kSending) return;
    for (std::uint16_t i = 0; i < kSegment; ++i)
      if (is_due(slot, i)) send(s, i);
  }

  void send(std::size_t s, std::uint16_t index) {
    Slot& slot = slots_[s];
    const auto paths = is_reliable_ ? from_.placer().paths(from_.link, TrafficClass::kExact)
                                    : wire::LinkPaths::first(kPaths);
    if (paths.empty()) return;
    while (!paths.has(next_path_ % kPaths))
      ++next_path_;
    datapath::PlacedPacket packet;
    packet.way = {from_.link, TrafficClass::kExact,
                  static_cast<wire::PathIndex>(next_path_++ % kPaths)};
    packet.index = {static_cast<std::uint16_t>(s), slot.generation, index};
    packet.address = slot.permission.address + index * kPacketBytes;
    packet.key = slot.permission.key;
    packet.payload = from_.slot(s).subspan(index * kPacketBytes, kPacketBytes);
    const auto failures = failures_of(packet.way.path);
    if (from_.placer().place(std::span(&packet, 1)) == 0) return;
    slot.path[index] = packet.way.path;
    slot.failures[index] = failures;
    ++sent_;
    repeated_ += slot.sent_at[index] > Time{} ? 1 : 0;
    slot.sent_at[index] = now_;
  }

  void receive() {
    std::array<datapath::PlacedRun, 64> runs;
    const std::size_t count = to_.placer().placed(now_, runs);
    for (std::size_t r = 0; r < count; ++r) {
      if (runs[r].first.slot >= kSlots) fail("a packet of another slot arrived");
      Slot& slot = slots_[runs[r].first.slot];
      if (slot.state != Slot::State::kSending || runs[r].first.generation != slot.generation)
        continue;
      for (unsigned i = 0; i < runs[r].packets; ++i)
        slot.arrived[runs[r].first.index + i] = true;
    }
    from_.placer().placed(now_, runs);  // for its completions
  }

  void settle() {
    for (std::size_t s = 0; s < kSlots; ++s) {
      Slot& slot = slots_[s];
      if (slot.state != Slot::State::kSending ||
          std::ranges::find(slot.arrived, false) != slot.arrived.end())
        continue;
      slot.state = Slot::State::kRevoking;
      if (revokes_)
        to_.placer().revoke(slot.id);
      else
        take_back(s);
    }
    std::array<PermissionEvent, 8> events;
    const std::size_t count = to_.placer().poll_permissions(now_, events);
    for (std::size_t e = 0; e < count; ++e) {
      const auto found = std::ranges::find(slots_, events[e].id, &Slot::id);
      if (found == slots_.end()) continue;
      if (events[e].kind == PermissionEvent::Kind::kGranted) {
        found->permission = events[e].permission;
        found->state = Slot::State::kSending;
        ++found->generation;
        found->arrived.assign(kSegment, false);
        found->sent_at.assign(kSegment, Time{});
      } else if (events[e].kind == PermissionEvent::Kind::kRefused) {
        found->state = Slot::State::kFree;
      } else if (found->state == Slot::State::kRevoking) {
        take_back(static_cast<std::size_t>(found - slots_.begin()));
      }
    }
  }

  void take_back(std::size_t s) {
    ++messages_;
    wrong_ += std::ranges::equal(to_.slot(s), from_.slot(s)) ? 0 : 1;
    std::ranges::fill(to_.slot(s), kCanary);
    slots_[s].state = Slot::State::kTakenBack;
    slots_[s].until = now_ + kHold;
  }

  Side& from_;
  Side& to_;
  const bool revokes_;
  bool is_reliable_ = false;
  std::uint32_t version_ = 0;  // of the last introduction
  Rng rng_{1};
  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  Time now_;
  std::size_t next_path_ = 0;
  std::uint64_t messages_ = 0, wrong_ = 0, broken_ = 0, sent_ = 0, repeated_ = 0;
  double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) fail("FROM TO SECONDS revoke|none [rc]");
  datapath::PlacementAbility ability;
  Side from(argv[1], argc == 6, ability);
  Side to(argv[2], argc == 6, ability);
  Messages messages(from, to, std::string(argv[4]) == "revoke");
  messages.run(Duration(static_cast<std::int64_t>(1e9 * std::strtod(argv[3], nullptr))));
  messages.print(ability);
}
