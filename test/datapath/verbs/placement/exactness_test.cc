// Exactness of placed packets on a network that loses, doubles and reorders them and delivers some
// very late, with writes in progress at every revocation. A small protocol follows the caller's
// rules (datapath/placement.h): a buffer is taken back once its permission is revoked, filled with
// a canary and checked for a while. Variants that break the rules must be noticed.
#include <algorithm>
#include <vector>

#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

constexpr std::uint16_t kSegment = 8;  // packets
constexpr std::size_t kSlots = 6;
constexpr std::size_t kPaths = 4;
constexpr int kRepeatAfter = 20;  // steps
constexpr int kNotSent = -1;
constexpr int kHold = 60;  // steps for which a canary is watched
constexpr std::byte kCanary{0xee};

struct Outcome {
  std::size_t messages = 0;
  std::size_t wrong = 0;            // messages
  std::size_t canaries_broken = 0;  // buffers
};

class Protocol {
 public:
  Protocol(Pair& pair, bool revokes, std::uint64_t seed)
      : pair_(pair), revokes_(revokes), rng_(seed), slots_(kSlots) {
    pair_.connect(kPaths);
    is_reliable_ = pair_.a.placer().link_limits(pair_.a.link).is_reliable;
  }

  Outcome run(int steps) {
    for (int step = 0; step < steps; ++step) {
      pair_.card->step();
      pair_.now += 1ms;
      for (std::size_t s = 0; s < kSlots; ++s)
        turn(s, step);
      receive();
      settle(step);
      if (is_reliable_) pair_.introduce();
    }
    return outcome_;
  }

 private:
  enum class State { kFree, kPermitting, kSending, kRevoking, kTakenBack };
  struct Slot {
    State state = State::kFree;
    PermissionId id{};
    Permission permission;
    std::uint8_t generation = 0;
    std::vector<bool> arrived = std::vector<bool>(kSegment);
    std::vector<int> sent_at = std::vector<int>(kSegment);
    std::vector<wire::PathIndex> path = std::vector<wire::PathIndex>(kSegment);
    std::vector<std::uint32_t> failures = std::vector<std::uint32_t>(kSegment);  // of the path
    int until = 0;
  };

  std::span<std::byte> buffer(std::size_t s) { return pair_.b.piece(s * kSegment, kSegment); }
  std::span<std::byte> source(std::size_t s) { return pair_.a.piece(s * kSegment, kSegment); }

  void turn(std::size_t s, int step) {
    Slot& slot = slots_[s];
    if (slot.state == State::kTakenBack && step >= slot.until) {
      const auto memory = buffer(s);
      const bool intact =
          std::ranges::all_of(memory, [](std::byte byte) { return byte == kCanary; });
      outcome_.canaries_broken += intact ? 0 : 1;
      slot.state = State::kFree;
    }
    if (slot.state == State::kFree) {
      for (std::byte& byte : source(s))
        byte = static_cast<std::byte>(rng_.next());
      slot.id = pair_.b.placer().permit(pair_.b.link, buffer(s));
      slot.state = State::kPermitting;
    }
    if (slot.state != State::kSending) return;
    for (std::uint16_t i = 0; i < kSegment; ++i)
      if (!slot.arrived[i] && is_due(slot, i, step)) send(s, i, step);
  }

  // Over RC the card repeats packets, until their path has failed.
  bool is_due(const Slot& slot, std::uint16_t index, int step) const {
    const bool is_first = slot.sent_at[index] == kNotSent;
    if (!is_reliable_ || is_first) return is_first || step - slot.sent_at[index] >= kRepeatAfter;
    return failures_of(slot.path[index]) != slot.failures[index];
  }
  std::uint32_t failures_of(wire::PathIndex path) const {
    return pair_.a.placer().failures(pair_.a.link, TrafficClass::kExact, path);
  }

  void send(std::size_t s, std::uint16_t index, int step) {
    Slot& slot = slots_[s];
    PlacedPacket packet;
    packet.way = {pair_.a.link, TrafficClass::kExact,
                  static_cast<wire::PathIndex>(rng_.below(kPaths))};
    packet.index = {static_cast<std::uint16_t>(s), slot.generation, index};
    packet.address = slot.permission.address + index * kPacketBytes;
    packet.key = slot.permission.key;
    packet.payload = source(s).subspan(index * kPacketBytes, kPacketBytes);
    if (is_reliable_) {
      const auto paths = pair_.a.placer().paths(pair_.a.link, TrafficClass::kExact);
      if (paths.empty()) return;
      while (!paths.has(packet.way.path))
        packet.way.path = static_cast<wire::PathIndex>((packet.way.path + 1) % kPaths);
    }
    slot.path[index] = packet.way.path;
    slot.failures[index] = failures_of(packet.way.path);
    if (pair_.a.placer().place(std::span(&packet, 1)) == 1) slot.sent_at[index] = step;
  }

  void receive() {
    std::vector<PlacedRun> runs(32);
    for (std::size_t count = 32; count == 32;) {
      count = pair_.b.placer().placed(pair_.now, runs);
      for (std::size_t r = 0; r < count; ++r) {
        Slot& slot = slots_[runs[r].first.slot];
        if (slot.state != State::kSending || runs[r].first.generation != slot.generation) continue;
        for (unsigned i = 0; i < runs[r].packets; ++i)
          slot.arrived[runs[r].first.index + i] = true;
      }
    }
    std::vector<PlacedRun> none(1);
    pair_.a.placer().placed(pair_.now, none);  // collects completions and repairs queue pairs
  }

  void settle(int step) {
    for (std::size_t s = 0; s < kSlots; ++s) {
      Slot& slot = slots_[s];
      if (slot.state != State::kSending ||
          std::ranges::find(slot.arrived, false) != slot.arrived.end())
        continue;
      pair_.b.placer().revoke(slot.id);
      slot.state = State::kRevoking;
      if (!revokes_) take_back(s, step);
    }
    for (const PermissionEvent& event : pair_.events()) {
      const auto found = std::ranges::find(slots_, event.id, &Slot::id);
      if (found == slots_.end()) continue;
      const auto s = static_cast<std::size_t>(found - slots_.begin());
      if (event.kind == PermissionEvent::Kind::kGranted) {
        found->permission = event.permission;
        found->state = State::kSending;
        ++found->generation;
        found->arrived.assign(kSegment, false);
        found->sent_at.assign(kSegment, kNotSent);
      } else if (event.kind == PermissionEvent::Kind::kRefused) {
        found->state = State::kFree;
      } else if (found->state == State::kRevoking) {
        take_back(s, step);
      }
    }
  }

  void take_back(std::size_t s, int step) {
    ++outcome_.messages;
    outcome_.wrong += std::ranges::equal(buffer(s), source(s)) ? 0 : 1;
    std::ranges::fill(buffer(s), kCanary);
    slots_[s].state = State::kTakenBack;
    slots_[s].until = step + kHold;
  }

  Pair& pair_;
  const bool revokes_;
  bool is_reliable_ = false;
  Rng rng_;
  std::vector<Slot> slots_;
  Outcome outcome_;
};

struct Network {
  double loss = 0, doubled = 0, late = 0;
};

Outcome run(Pair& pair, const Network& network, std::uint64_t seed, bool revokes = true) {
  pair.card->rng = Rng(seed);
  pair.card->loss = network.loss;
  pair.card->doubled = network.doubled;
  pair.card->late = network.late;
  pair.card->reordering = 3;
  pair.card->copy_steps = 1;
  return Protocol(pair, revokes, seed).run(4000);
}

TEST_CASE(
    "no byte of a buffer changes after its permission is revoked, whatever the network does") {
  const auto permissions = GENERATE(PermissionKind::kRegion, PermissionKind::kWindow);
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const Network network = GENERATE(Network{0, 0, 0}, Network{0.01, 0, 0}, Network{0.01, 0, 0.05},
                                   Network{0, 0.05, 0.05}, Network{0.1, 0.1, 0.2});
  INFO("loss " << network.loss << ", doubled " << network.doubled << ", late " << network.late
               << ", seed " << seed);
  Pair pair(permissions);
  const Outcome outcome = run(pair, network, seed);
  CHECK(outcome.messages > 150);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.canaries_broken == 0);
  if (network.late > 0) CHECK(pair.card->dead_keys > 0);
}

TEST_CASE("the same over RC, where the card repeats lost packets") {
  Pair pair(GENERATE(PermissionKind::kRegion, PermissionKind::kWindow), PlacementTransport::kRc);
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const Network network = GENERATE(Network{0, 0, 0}, Network{0.01, 0, 0}, Network{0.01, 0, 0.05},
                                   Network{0, 0.05, 0.05}, Network{0.1, 0.1, 0.2});
  INFO("loss " << network.loss << ", doubled " << network.doubled << ", late " << network.late
               << ", seed " << seed);
  const Outcome outcome = run(pair, network, seed);
  CHECK(outcome.messages > 50);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.canaries_broken == 0);
  CHECK(pair.card->dead_keys == 0);
}

TEST_CASE("reliable queue pairs that break are replaced without a cost in exactness") {
  Pair pair(GENERATE(PermissionKind::kRegion, PermissionKind::kWindow), PlacementTransport::kRc);
  pair.card->breaks = 0.002;
  pair.card->repeats_max = 2;
  const Outcome outcome = run(pair, {0.05, 0.01, 0.05}, 7);
  CHECK(outcome.messages > 50);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.canaries_broken == 0);
  CHECK(pair.a.count_of("placement_queue_pairs_reset") > 0);
}

TEST_CASE("queue pairs that break and are reset cost no exactness") {
  Pair pair;
  pair.card->breaks = 0.002;
  const Outcome outcome = run(pair, {0.01, 0.01, 0.05}, 7);
  CHECK(outcome.messages > 50);
  CHECK(outcome.wrong == 0);
  CHECK(outcome.canaries_broken == 0);
  CHECK(pair.a.count_of("placement_queue_pairs_reset") > 0);
}

TEST_CASE("the checker notices a buffer that is taken back before the revocation") {
  Pair pair(PermissionKind::kWindow);
  pair.card->holds_binds = false;
  const Outcome outcome = run(pair, {0.01, 0.05, 0.1}, 1, false);
  CHECK(outcome.wrong + outcome.canaries_broken > 0);
}

TEST_CASE("the checker notices a device whose unbind does not wait for writes in progress") {
  Pair pair(PermissionKind::kWindow);
  pair.card->unbind_waits = false;
  const Outcome outcome = run(pair, {0.01, 0.2, 0.2}, 1);
  CHECK(outcome.wrong + outcome.canaries_broken > 0);
}

}  // namespace
}  // namespace dlcp::datapath::test
