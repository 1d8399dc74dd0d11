// Placed messages at their receiver: the link to the sender, the permissions that it has, and the
// packets that arrived last. recv_queue holds what has arrived; a message with a permission is not
// complete before all its permissions are revoked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/channel/frame_writer.h"
#include "core/placement/card.h"
#include "core/placement/link_table.h"
#include "util/time.h"
#include "wire/data/placed_packet.h"
#include "wire/frames/placed_frame.h"

namespace dlcp::core {

class RecvStream;

// Paths that one ACK can report, each for placed and for ordinary packets.
inline constexpr std::size_t kPathReportsMax = 32;

// How long the receiver has held a packet, in the unit of an ACK (128 ns).
inline std::uint32_t held(Time arrived_at, Time now) {
  return static_cast<std::uint32_t>(std::max(now - arrived_at, Duration::zero()).count() >> 7);
}

class RecvPlacing {
 public:
  // `token`: of the association, under which `links` finds it.
  RecvPlacing(Card& card, LinkTable& links, std::uint64_t token)
      : card_(card), links_(links), token_(token) {}
  ~RecvPlacing();
  RecvPlacing(const RecvPlacing&) = delete;
  RecvPlacing& operator=(const RecvPlacing&) = delete;

  // LINK of the sender at `peer`. False if no link is possible.
  bool on_link(Time now, const wire::EndpointAddress& peer, const wire::Link& frame);
  bool connected() const { return connected_; }

  // Where the packets of a permission belong.
  struct Use {
    RecvStream* stream = nullptr;  // null: it has ended
    std::uint64_t message = 0;
    std::uint32_t first_chunk = 0;
  };
  // Asks for permissions for a posted receive, as long as there are slots. False: it got none.
  bool permit(RecvStream& stream, std::uint64_t message, std::uint32_t stream_number,
              std::span<std::byte> buffer, std::uint32_t chunk_bytes);
  // Begins to revoke all permissions of the message. True if all have ended at once, because the
  // sender has not been told of them.
  bool revoke(const RecvStream& stream, std::uint64_t message);
  // The stream ends: begins to revoke its permissions, and does not name its memory any more.
  void leave(const RecvStream& stream);
  // An event for the stream.
  struct Outcome {
    Use use;
    bool all_decided = false;  // the last undecided permission of the message: granted or refused
    bool ended = false;        // the permission was revoked or refused
    std::size_t left = 0;      // permissions of the message
  };
  std::optional<Outcome> on_event(const PermissionEvent& event);
  // The use that the name of a packet stands for; null: its permission is revoked, or never was.
  const Use* find(std::uint32_t name) const;

  void note(const wire::PlacedRun& run);
  // Adds the newest packet of each path that has changed to the ACK. False if some had no room.
  bool report(Time now, wire::Ack& ack);
  void on_probe() { is_asked_ = true; }  // the sender has perhaps lost PERMITS
  // Sends LINK and PERMITS. Permits are repeated with the next ACK on another path, because the
  // frame may be lost.
  std::size_t poll_transmit(const Recipient& to, const AnswerPath& on, bool with_ack,
                            FrameWriter& frames, std::span<wire::TxPacket> out);

 private:
  struct Slot {
    PermissionId id = 0;  // 0: free
    Use use;
    std::uint8_t generation = 0;
    bool decided = false;  // granted or refused
    bool revoking = false;
    bool told = false;    // to the sender
    bool used = false;    // a packet has been placed
    wire::Permit permit;  // to be sent when it is granted
  };
  struct Newest {
    bool changed = false;
    std::uint32_t name = 0;
    Time arrived_at;
  };
  using Slots = std::vector<std::uint16_t>;
  struct OfStream {
    std::unordered_map<std::uint64_t, Slots> messages;  // that have permissions
    unsigned unused = 0;  // permissions that ended without a placed packet, in a row
  };
  void revoke(Slot& slot);
  void forget(Slot& slot, std::uint16_t index, bool revoked);

  Card& card_;
  LinkTable& links_;
  const std::uint64_t token_;
  LinkId link_ = 0;
  bool connected_ = false;
  bool link_due_ = false;
  Time connect_after_{};  // while a failed attempt must not be repeated
  std::unordered_map<const RecvStream*, OfStream> streams_;
  std::vector<Slot> slots_;
  std::vector<std::uint16_t> free_;
  std::vector<wire::Permit> granted_;  // to send
  std::vector<wire::Permit> sent_;     // to be repeated with the next ACK
  bool is_asked_ = false;              // all that are not used are repeated with it
  std::vector<Newest> newest_;         // by path
};

}  // namespace dlcp::core
