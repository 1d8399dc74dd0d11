// Frames other than data: encode to and decode from bytes. Layout: FrameHead, the number of this
// frame among those of its sender on this connection (32 bits), the fields in the order declared
// here (little-endian), then padding if asked for, and in the last eight bytes a tag over all that
// comes before. encode() leaves number and tag to seal(). decode() returns nullopt for anything
// malformed, allocates nothing that the datagram's own length does not bound, and believes
// everything: ask authentic() first.
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
inline constexpr std::size_t kControlFrameBytesMax =
    1200;  // fits every path; HELLO may be padded beyond
inline constexpr std::size_t kReasonBytesMax = 200;

using Buffer = std::vector<std::byte>;

// What of a data packet is authentic; each includes those before. Of both ends' wishes the greater
// is used, but that payloads are encrypted (cipher.h) both must wish.
enum class Protection : std::uint8_t { kHeader = 0, kFull = 1, kEncrypted = 2 };

// Several connections on as many lanes that carry one stream of messages in turn. The sender names
// the bundle; of both ends' lanes the smaller number is used.
struct Membership {
  std::uint64_t bundle = 0;  // 0: the connection stands for itself
  std::uint8_t member = 0;   // whose turn comes after so many others
  std::uint8_t lanes = 0;    // that the sender could use

  friend bool operator==(const Membership&, const Membership&) = default;
};

// HELLO and WELCOME are open at their end: what follows the fields is skipped, which is zeros today
// (and padding), and room for what later plugins have to say to each other. A HELLO without its
// last fields, or a WELCOME without its last list, says so of a connection that stands for itself.
struct Hello {
  static constexpr FrameType kType = FrameType::kHello;
  std::uint64_t destination = 0;      // listener's token
  std::uint32_t listener_number = 0;  // and its number, so that it need not be remembered
  std::uint64_t sender_token = 0;     // where WELCOME and ACKs go
  EndpointAddress sender_address;
  std::uint32_t datagram_bytes_max = 0;  // of the sender's interface
  std::uint32_t hello_bytes = 0;         // the size of this very frame, padding included
  std::uint32_t echo = 0;                // send time, echoed by WELCOME
  Protection protection = Protection::kHeader;
  Membership membership;
  // The association that the stream is to be part of, by the sender's token, and by the receiver's
  // where the sender knows it (0: not established yet). `stream` is unique in the association.
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
  std::uint32_t echo = 0;                // likewise
  Protection protection = Protection::kHeader;
  EndpointAddress receiver_address{};  // where the connection goes on; empty: where HELLO went
  std::uint64_t association = 0;       // the receiver's token
  // The stream that created the association at the receiver: the keys of the association derive
  // from the key of that stream's listener.
  std::uint32_t key_stream = 0;
  // Not 0: the association is established, and this WELCOME opens the stream as STARTED would.
  std::uint32_t payload_bytes = 0;
  std::uint32_t posted = 0;
  std::uint32_t window_packets = 0;
  std::uint16_t window_epoch = 0;
  // The receiver's other lanes, where further members of a bundle can call the same listener.
  static constexpr std::size_t kLanesMax = 15;
  std::vector<EndpointAddress> lanes{};
};

struct Refuse {
  static constexpr FrameType kType = FrameType::kRefuse;
  enum class Cause : std::uint8_t { kSettings = 1, kClosed = 2 };
  std::uint64_t destination = 0;
  Cause cause = Cause::kSettings;
  std::string reason;  // names both sides' values; at most kReasonBytesMax
};

struct Start {
  static constexpr FrameType kType = FrameType::kStart;
  std::uint64_t destination = 0;
  std::uint32_t payload_bytes = 0;  // of every packet but a message's last; a multiple of 128
  Protection protection = Protection::kHeader;
};

struct Started {
  static constexpr FrameType kType = FrameType::kStarted;
  std::uint64_t destination = 0;
  std::uint32_t posted = 0;  // receives posted so far
  std::uint32_t window_packets = 0;
  std::uint16_t window_epoch = 0;
};

// What one path has seen since the connection began, as of this ACK.
struct PathReport {
  PathIndex path = 0;         // the sender's path number
  std::uint8_t ce_marks = 0;  // CE marks on this path since its previous report, saturating
  std::uint32_t highest_sequence = 0;
  std::uint32_t echo = 0;  // send time of the packet that set highest_sequence
  std::uint32_t held = 0;  // 128 ns units between that packet's arrival and this ACK
};

// One message not covered by Ack::completed: chunks below first_missing are there. Bit i of its
// bitmap stands for chunk (first_missing rounded down to a multiple of 64) + i, so that both ends
// can merge whole words. first_missing = the number of chunks means: all there.
struct MessageReport {
  std::uint32_t message = 0;
  std::uint32_t first_missing = 0;
  std::uint16_t bitmap_words = 0;  // 64-bit words that follow in Ack::bitmap, in order of reports
};

// What a receiver has of one stream. `messages` and `bitmap` keep their memory when the report is
// used again.
struct StreamReport {
  std::uint32_t stream = 0;     // the sender's number
  std::uint32_t completed = 0;  // all messages below this number are complete
  std::uint32_t posted = 0;     // receives posted: messages below this number have a buffer
  std::vector<MessageReport> messages;
  std::vector<std::uint64_t> bitmap;

  void clear();
};

// Sent on an association, for any number of its streams.
struct Ack {
  static constexpr FrameType kType = FrameType::kAck;
  std::uint64_t destination = 0;     // the sender's token of the association
  std::uint32_t window_packets = 0;  // packets that may be in flight on this association
  std::uint16_t window_epoch = 0;    // counts changes of window_packets, modulo 65536
  bool answers_probe = false;
  std::uint32_t probe_echo = 0;  // of the PROBE this answers (valid if answers_probe)
  std::uint32_t duplicates = 0;  // data packets received so far that were there already
  std::uint32_t sent = 0;        // when this was put together, by the receiver's clock
  std::vector<PathReport> paths;

  std::span<const StreamReport> streams() const { return std::span(reports_).first(used_); }
  StreamReport& add_stream();
  std::span<std::uint64_t> bitmap_of(std::size_t stream) { return reports_[stream].bitmap; }
  void clear();

 private:
  std::vector<StreamReport> reports_;  // the first `used_` count; the others keep their memory
  std::size_t used_ = 0;
};

struct Probe {
  static constexpr FrameType kType = FrameType::kProbe;
  std::uint64_t destination = 0;
  std::uint32_t echo = 0;   // send time
  std::uint32_t bytes = 0;  // of this very frame, which is padded to it if it is shorter
};

struct Ping {
  static constexpr FrameType kType = FrameType::kPing;
  std::uint64_t destination = 0;
};
struct Pong {
  static constexpr FrameType kType = FrameType::kPong;
  std::uint64_t destination = 0;
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

// Clears `out` and leaves the frame in it, up to where the tag will stand. HELLO and PROBE are
// padded to the size that they name, tag included; the caller keeps an ACK within
// kControlFrameBytesMax.
template <class Frame>
void encode(const Frame& frame, Buffer& out);

// Numbers an encoded frame, writes which path it is sent on, and appends the tag.
void seal(Buffer& frame, const Key& key, std::uint32_t sequence, PathIndex path);
// True for an undamaged frame other than data, whatever its type, of someone who has the key.
bool authentic(std::span<const std::byte> datagram, const Key& key);
// Of a frame that is authentic.
std::uint32_t control_sequence(std::span<const std::byte> datagram);

template <class Frame>
std::optional<Frame> decode(std::span<const std::byte> datagram);
bool decode_ack(std::span<const std::byte> datagram, Ack& out);  // reuses out's memory

// Size of the sealed ACK, to decide what still fits; and what one more stream takes besides its
// messages.
std::size_t encoded_bytes(const Ack& ack);
inline constexpr std::size_t kStreamReportBytes = 13;

}  // namespace dlcp::wire
