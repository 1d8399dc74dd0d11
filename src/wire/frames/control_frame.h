// Encodes and decodes frames other than data. Layout: FrameHead; a 32-bit sequence number among the
// frames of this sender on this connection; the fields in the order declared here (little-endian);
// optional padding; and in the last eight bytes a tag over everything before. seal() fills in
// number and tag after encode(). decode() returns nullopt for malformed frames, and does not
// allocate more than the length of the datagram justifies. It does not check authenticity: call
// authentic() first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/frame_head.h"
#include "wire/keys.h"
#include "wire/packet.h"

namespace dlcp::wire {

inline constexpr std::size_t kControlHeadBytes = kFrameHeadBytes + 4;
// HELLO may be padded beyond. A path may carry less.
inline constexpr std::size_t kControlFrameBytesMax = 1200;
inline constexpr std::size_t kReasonBytesMax = 200;

using Buffer = std::vector<std::byte>;

// The authenticated part of a data packet; each value includes those before. The higher of both
// ends' values is used, except that both must choose encryption of payloads (cipher.h).
enum class Protection : std::uint8_t { kHeader = 0, kFull = 1, kEncrypted = 2 };

// Membership in a bundle: several connections on as many lanes that carry one stream of messages in
// turn. The sender names the bundle; the smaller of both ends' numbers of lanes is used.
struct Membership {
  std::uint64_t bundle = 0;  // 0: a single connection
  std::uint8_t member = 0;   // its position in the order of turns
  std::uint8_t lanes = 0;    // number of lanes that the sender could use

  friend bool operator==(const Membership&, const Membership&) = default;
};

// HELLO and WELCOME may have further bytes after their fields, which are skipped: zeros today
// (padding), and room for extensions of later plugins. A HELLO without its last fields, or a
// WELCOME without its last list, is for a single connection.
struct Hello {
  static constexpr FrameType kType = FrameType::kHello;
  std::uint64_t destination = 0;      // listener's token
  std::uint32_t listener_number = 0;  // its number: identifies it even after it is closed
  std::uint64_t sender_token = 0;  // destination of the stream's frames; ACKs go to the association
  EndpointAddress sender_address;
  std::uint32_t hello_bytes = 0;  // size of this frame, padding included
  std::uint32_t echo = 0;         // send time, echoed by WELCOME
  Protection protection = Protection::kHeader;
  Membership membership;
  // The association of the stream, by the sender's token, and by the receiver's token if the sender
  // has it (0: not established yet). `stream` is unique in the association.
  std::uint64_t association = 0;
  std::uint64_t receiver_association = 0;
  std::uint32_t stream = 0;
};

struct Welcome {
  static constexpr FrameType kType = FrameType::kWelcome;
  std::uint64_t destination = 0;  // sender's token
  std::uint64_t receiver_token = 0;
  std::uint32_t datagram_bytes_max = 0;  // of the receiver's interface
  std::uint32_t hello_bytes = 0;         // of the HELLO answered
  std::uint32_t echo = 0;                // echo of that HELLO
  Protection protection = Protection::kHeader;
  std::uint64_t association = 0;  // the receiver's token
  // The stream that created the association at the receiver. The keys of the association are
  // derived from the key of that stream's listener.
  std::uint32_t key_stream = 0;
  // Not 0: the association is established, and this WELCOME opens the stream as STARTED would.
  std::uint32_t payload_bytes = 0;
  std::uint32_t posted = 0;
  std::uint32_t window_packets = 0;  // the association's reserve; 0: no stream is left
  // The receiver's other lanes, where other members of a bundle can reach the same listener.
  static constexpr std::size_t kLanesMax = 15;
  std::vector<EndpointAddress> lanes{};
};

struct Refuse {
  static constexpr FrameType kType = FrameType::kRefuse;
  enum class Cause : std::uint8_t { kSettings = 1, kClosed = 2 };
  std::uint64_t destination = 0;
  Cause cause = Cause::kSettings;
  std::string reason;  // with both sides' values; at most kReasonBytesMax
};

struct Start {
  static constexpr FrameType kType = FrameType::kStart;
  std::uint64_t destination = 0;
  std::uint32_t payload_bytes = 0;  // of every packet but a message's last; a multiple of 128
  Protection protection = Protection::kHeader;
  bool unmarked = false;  // packets between both hosts need to go without DSCP and ECN
};

struct Started {
  static constexpr FrameType kType = FrameType::kStarted;
  std::uint64_t destination = 0;
  std::uint32_t posted = 0;  // receives posted so far
  std::uint32_t window_packets = 0;
  std::uint16_t window_epoch = 0;
};

// State of one path since the connection began, as of this ACK.
struct PathReport {
  PathIndex path = 0;         // the sender's path number
  std::uint8_t ce_marks = 0;  // CE marks on this path since its previous report, saturating
  std::uint32_t highest_sequence = 0;
  std::uint32_t echo = 0;  // send time of the packet that set highest_sequence
  std::uint32_t held = 0;  // 128 ns units between that packet's arrival and this ACK
};

// One message above Ack::completed. Chunks below first_missing have arrived; if it is the number of
// chunks, all have. Bit i of the bitmap stands for chunk (first_missing rounded down to a multiple
// of 64) + i, so that both ends can merge whole words.
struct MessageReport {
  std::uint32_t message = 0;
  std::uint32_t first_missing = 0;
  std::uint16_t bitmap_words = 0;  // 64-bit words in StreamReport::bitmap, in order of reports
  bool closing = false;            // all has arrived, but its memory may still be written
};

// The packet that a card placed last on a path. In ACKs to senders of such packets only.
struct PlacedReport {
  PathIndex path = 0;      // the sender's path number
  std::uint32_t name = 0;  // PlacedName::pack()
  std::uint32_t held = 0;  // as in PathReport
};

// State of one stream at the receiver. `messages` and `bitmap` keep their memory when the report is
// reused.
struct StreamReport {
  std::uint32_t stream = 0;     // the sender's number
  std::uint32_t completed = 0;  // all messages below this number are complete
  std::uint32_t posted = 0;     // receives posted: messages below this number have a buffer
  std::vector<MessageReport> messages;
  std::vector<std::uint64_t> bitmap;

  void clear();
};

// Sent on an association, for any number of its streams. PING has the same fields.
struct Ack {
  bool asks_pong = false;            // the type is kPing, not kAck
  std::uint64_t destination = 0;     // the sender's token of the association
  std::uint32_t window_packets = 0;  // packets that may be in flight on this association
  std::uint16_t window_epoch = 0;    // counts changes of window_packets, modulo 65536
  bool answers_probe = false;
  std::uint32_t probe_echo = 0;  // of the PROBE this answers (valid if answers_probe)
  std::uint32_t duplicates = 0;  // data packets that were received twice, so far
  std::uint32_t sent = 0;        // when the ACK was made, by the receiver's clock
  std::vector<PathReport> paths;
  std::vector<PlacedReport> placed;

  std::span<const StreamReport> streams() const { return std::span(reports_).first(used_); }
  StreamReport& add_stream();
  std::span<std::uint64_t> bitmap_of(std::size_t stream) { return reports_[stream].bitmap; }
  void clear();

 private:
  std::vector<StreamReport> reports_;  // the first `used_` are valid; the others keep their memory
  std::size_t used_ = 0;
};

struct Probe {
  static constexpr FrameType kType = FrameType::kProbe;
  std::uint64_t destination = 0;
  std::uint32_t echo = 0;   // send time
  std::uint32_t bytes = 0;  // size of this frame, which is padded if it is shorter
};

struct Pong {
  static constexpr FrameType kType = FrameType::kPong;
  static constexpr std::size_t kUnknownMax = 100;  // fits every path
  std::uint64_t destination = 0;                   // the receiver's token of the association
  std::uint32_t echo = 0;                          // Ack::sent of the PING
  std::vector<std::uint32_t> unknown;  // streams that PING reports and the sender does not know
};

struct Close {
  static constexpr FrameType kType = FrameType::kClose;
  std::uint64_t destination = 0;
  std::uint32_t completed = 0;  // receiver: messages complete; sender: messages acknowledged
};
struct CloseAck {
  static constexpr FrameType kType = FrameType::kCloseAck;
  std::uint64_t destination = 0;
};

struct Reset {
  static constexpr FrameType kType = FrameType::kReset;
  std::uint64_t destination = 0;
  std::string reason;
};

// Clears `out` and writes the frame up to the place of the tag. HELLO and PROBE are padded to the
// size that they state, tag included. The caller keeps an ACK within kControlFrameBytesMax.
template <class Frame>
void encode(const Frame& frame, Buffer& out);

// Writes the sequence number and path into an encoded frame, and appends the tag.
void seal(Buffer& frame, const Key& key, std::uint64_t number, PathIndex path);
// True for an intact frame other than data, of any type, that was sealed with this key and number.
// Frames that no Channel checks have numbers below 2^32.
bool authentic(std::span<const std::byte> datagram, const Key& key, std::uint64_t number = 0);
// Requires an authentic frame.
std::uint32_t control_sequence(std::span<const std::byte> datagram);

template <class Frame>
std::optional<Frame> decode(std::span<const std::byte> datagram);
bool decode_ack(std::span<const std::byte> datagram, Ack& out);  // reuses out's memory

// Size of the sealed ACK, to decide whether more fits; and the sizes of another stream's report
// without its messages, and of another message's report without its bitmap.
std::size_t encoded_bytes(const Ack& ack);
inline constexpr std::size_t kStreamReportBytes = 13;
inline constexpr std::size_t kMessageReportBytes = 10;

}  // namespace dlcp::wire
