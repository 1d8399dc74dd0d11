// Placed messages at their sender: the link to the receiver, and the permissions that it has given.
// A packet is placed if its segment has a permission; otherwise it travels as an ordinary packet.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/loss_detection/flight.h"
#include "core/placement/card.h"
#include "core/streams/send_message.h"
#include "util/time.h"
#include "wire/data/placed_packet.h"
#include "wire/frames/placed_frame.h"

namespace dlcp::core {

class SendPlacing {
 public:
  SendPlacing(Time now, Card& card, const wire::EndpointAddress& peer, std::size_t paths,
              Duration round_trip);
  ~SendPlacing() {
    if (link_ != 0) card_.close_link(link_);
  }
  SendPlacing(const SendPlacing&) = delete;

  // --- link: LINK is repeated until the receiver has answered it
  void on_link(Time now, const wire::Link& frame, Flight& flight);
  bool link_due(Time now) const { return next_link_ <= now; }
  Time next_timeout() const { return std::min(next_link_, next_look_); }
  // Looks for paths that have failed, while packets are in flight that the card repairs.
  void on_timeout(Time now, Flight& flight);
  wire::Link take_link(Time now, std::uint64_t destination);
  const Card::Limits& limits() const { return limits_; }
  // Placed packets probably reach the peer. Long messages then wait for their permissions, because
  // the receiver would have to copy what arrives before.
  bool works() const {
    return !usable_[static_cast<std::size_t>(TrafficClass::kExact)].paths.empty() &&
           unreported_ < unreported_max_;
  }

  // --- permissions
  void on_permit(const wire::Permit& permit, std::uint64_t message);
  // Where this chunk and the `packets` - 1 after it may be written; `path` is one that the link
  // has. `name` lacks its flags. `whole` is the message, `chunk_bytes` the size of its chunks.
  struct Way {
    wire::PlacedTarget target;
    wire::PlacedName name;
    wire::PathIndex path = 0;
    std::size_t packets = 0;
  };
  std::optional<Way> way(Time now, const Flight& flight, const ChunkRef& chunk,
                         TrafficClass traffic_class, std::span<const std::byte> whole,
                         std::uint32_t chunk_bytes, wire::PathIndex path);

  // The paths that way() can offer for this chunk; empty if it will travel in an ordinary packet.
  std::span<const wire::PathIndex> paths_for(Time now, const Flight& flight, const ChunkRef& chunk);
  void on_sent(Time now, std::size_t packets);  // that way() permitted
  // How many chunks of an exact message, from this one on, travel in ordinary packets: at least 1.
  std::size_t ordinary_run(Time now, const ChunkRef& chunk, std::uint32_t chunk_bytes);

  // Adds the packets that ack.placed names to ack.paths, as if they had had headers. Returns the
  // index in ack.paths from which on the packets are repaired by the card.
  std::size_t resolve(Time now, Flight& flight, wire::Ack& ack);

 private:
  struct Permission {
    bool given = false;
    bool usable = false;  // the message is in memory that the card can read
    bool checked = false;
    std::uint64_t message = 0;
    wire::Permit permit;
  };
  static std::uint64_t key_of(std::uint32_t stream, std::uint64_t message, std::uint32_t segment) {
    return (std::uint64_t{stream} << 32 | static_cast<std::uint32_t>(message)) *
               0x9e3779b97f4a7c15u +
           segment;
  }
  Permission* find(const ChunkRef& chunk);
  std::size_t room_on(const Flight& flight, wire::PathIndex path) const;
  // The paths of one class that can be used now.
  struct Usable {
    wire::LinkPaths paths;
    std::array<wire::PathIndex, wire::LinkPaths::kMax> list{};  // the same
  };
  const Usable& paths_of(Time now, TrafficClass traffic_class);
  bool update_paths();
  void look(Time now, Flight& flight);
  // Too many packets in a row were not reported, and it is not the time of the next trial.
  bool is_suspended(Time now) const { return unreported_ >= unreported_max_ && now < next_trial_; }

  Card& card_;
  const wire::EndpointAddress peer_;
  LinkId link_ = 0;
  std::size_t paths_;
  std::array<Usable, kTrafficClassCount> usable_{};
  std::array<bool, kTrafficClassCount> widened_{};
  std::vector<wire::PathIndex> offered_;  // the result of paths_for()
  Card::Limits limits_;
  std::vector<std::uint32_t> failures_;  // by path, as the card reported them last
  Time next_link_ = kNever;
  Time next_look_ = kNever;
  unsigned tries_ = 0;
  Duration retry_pause_{0};  // after a failed attempt to connect
  std::uint32_t sent_version_ = 0;
  std::uint32_t failed_version_ = 0;  // after the last failed attempt to connect
  std::uint32_t unreported_ = 0;      // packets sent since an ACK named one
  std::uint32_t unreported_max_;
  Time next_trial_{};
  std::vector<Permission> permissions_;                     // by slot
  std::unordered_map<std::uint64_t, std::uint16_t> slots_;  // by key_of()
  std::optional<std::uint64_t> last_key_;                   // of the last lookup,
  Permission* last_ = nullptr;                              // and its result
};

}  // namespace dlcp::core
