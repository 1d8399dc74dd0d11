// Frames other than data: encode to and decode from bytes. Layout: FrameHead, fields in the order
// declared here (little-endian), then padding if asked for, and in the last four bytes a CRC-32C of
// all that comes before. decode_* returns nullopt for anything malformed and allocates nothing that
// the datagram's own length does not bound.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/frame_head.h"
#include "wire/packet.h"

namespace dlcp::wire {

inline constexpr std::size_t kControlFrameBytesMax =
    1200;  // fits every path; HELLO may be padded beyond
inline constexpr std::size_t kReasonBytesMax = 200;

using Buffer = std::vector<std::byte>;

enum class ChecksumMode : std::uint8_t { kHeader = 0, kFull = 1 };

// The fields up to sender_address keep their place in every wire version, so that any version can
// be refused; decode_hello reads no further when wire_version is not ours.
struct Hello {
  std::uint8_t wire_version = kWireVersion;
  std::uint64_t destination = 0;   // listener's token
  std::uint64_t sender_token = 0;  // where WELCOME and ACKs go
  EndpointAddress sender_address;
  std::uint32_t datagram_bytes_max = 0;  // of the sender's interface
  std::uint32_t hello_bytes = 0;         // the size of this very frame, padding included
  std::uint32_t paths = 0;
  ChecksumMode checksum = ChecksumMode::kHeader;
  std::uint32_t features = 0;  // bit set, see kFeature*
  std::uint32_t echo = 0;      // send time, echoed by WELCOME
  std::string plugin_version;  // for messages
};

struct Welcome {
  std::uint64_t destination = 0;  // sender's token
  std::uint64_t receiver_token = 0;
  std::uint32_t datagram_bytes_max = 0;  // of the receiver's interface
  std::uint32_t hello_bytes = 0;         // of the HELLO answered
  ChecksumMode checksum = ChecksumMode::kHeader;
  std::uint32_t features = 0;
  std::uint32_t echo = 0;
  std::string plugin_version;
};

struct Refuse {
  std::uint64_t destination = 0;
  std::uint8_t wire_version = kWireVersion;  // of whoever refuses
  std::string reason;                        // names both sides' values; at most kReasonBytesMax
};

struct Start {
  std::uint64_t destination = 0;
  std::uint32_t payload_bytes = 0;  // of every packet but a message's last; a multiple of 128
  ChecksumMode checksum = ChecksumMode::kHeader;
};

struct Started {
  std::uint64_t destination = 0;
  std::uint32_t posted = 0;  // receives posted so far
  std::uint32_t window_packets = 0;
  std::uint8_t window_epoch = 0;
};

// What one path has seen since the connection began, as of this ACK.
struct PathReport {
  std::uint8_t path = 0;      // the sender's path number
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

struct Ack {
  std::uint64_t destination = 0;
  std::uint32_t completed = 0;       // all messages below this number are complete
  std::uint32_t posted = 0;          // receives posted: messages below this number have a buffer
  std::uint32_t window_packets = 0;  // packets that may be in flight on this connection
  std::uint8_t window_epoch = 0;     // counts changes of window_packets, modulo 256
  std::uint32_t probe_echo = 0;      // of the PROBE this answers (valid if answers_probe)
  bool answers_probe = false;
  std::uint32_t duplicates = 0;  // data packets received so far that were there already
  std::vector<PathReport> paths;
  std::vector<MessageReport> messages;
  std::vector<std::uint64_t> bitmap;

  void clear();
};

struct Probe {
  std::uint64_t destination = 0;
  std::uint32_t echo = 0;     // send time
  std::uint8_t path = 0;      // the sender's path it is sent on
  std::uint32_t backlog = 0;  // messages that wait
  std::uint32_t bytes = 0;    // of this very frame, which is padded to it if it is shorter
};

struct Ping {
  std::uint64_t destination = 0;
  std::uint32_t echo = 0;
};
struct Pong {
  std::uint64_t destination = 0;
  std::uint32_t echo = 0;
};

struct Close {
  std::uint64_t destination = 0;
  std::uint32_t completed = 0;  // receiver: messages complete; sender: messages acknowledged
};
struct CloseAck {
  std::uint64_t destination = 0;
};

struct Reset {
  std::uint64_t destination = 0;
  std::string reason;
};

// Each encoder clears `out` and leaves the whole frame in it, head to CRC.
void encode(const Hello&, Buffer& out);  // padded to hello_bytes
void encode(const Welcome&, Buffer& out);
void encode(const Refuse&, Buffer& out);
void encode(const Start&, Buffer& out);
void encode(const Started&, Buffer& out);
void encode(const Ack&, Buffer& out);  // the caller keeps it within kControlFrameBytesMax
void encode(const Probe&, Buffer& out);
void encode(const Ping&, Buffer& out);
void encode(const Pong&, Buffer& out);
void encode(const Close&, Buffer& out);
void encode(const CloseAck&, Buffer& out);
void encode(const Reset&, Buffer& out);

// Writes into an encoded frame which path it is sent on; encode() leaves 0 there.
void set_path(Buffer& frame, PathIndex path);

// True for an undamaged frame other than data, whatever its type: what a decoder checks first.
bool control_intact(std::span<const std::byte> datagram);

std::optional<Hello> decode_hello(std::span<const std::byte> datagram);
std::optional<Welcome> decode_welcome(std::span<const std::byte> datagram);
std::optional<Refuse> decode_refuse(std::span<const std::byte> datagram);  // of any wire version
std::optional<Start> decode_start(std::span<const std::byte> datagram);
std::optional<Started> decode_started(std::span<const std::byte> datagram);
bool decode_ack(std::span<const std::byte> datagram, Ack& out);  // reuses out's memory
std::optional<Probe> decode_probe(std::span<const std::byte> datagram);
std::optional<Ping> decode_ping(std::span<const std::byte> datagram);
std::optional<Pong> decode_pong(std::span<const std::byte> datagram);
std::optional<Close> decode_close(std::span<const std::byte> datagram);
std::optional<CloseAck> decode_close_ack(std::span<const std::byte> datagram);
std::optional<Reset> decode_reset(std::span<const std::byte> datagram);

// Size of the ACK that encode() would make, to decide what still fits.
std::size_t encoded_bytes(const Ack& ack);

}  // namespace dlcp::wire
