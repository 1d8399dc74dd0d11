// Types in the interface of Endpoint: connections, requests, licences, events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "util/memory/byte_range.h"
#include "util/result.h"
#include "util/time.h"
#include "wire/frames/control_frame.h"
#include "wire/keys.h"
#include "wire/packet.h"

namespace dlcp::core {

// The token of a connection or listener in the endpoint's table. Tokens are not reused: the token
// of an ended connection is not found.
using ConnectionId = std::uint64_t;
using ListenerId = std::uint64_t;
struct Listening {
  ListenerId id = 0;
  wire::Invitation invitation;  // is sent to the peer in the handle, together with local_address
};
// The caller's name for one isend or irecv. The completion event returns it.
using RequestId = std::uint64_t;
// Connections of one context (NCCL >= 2.28: one communicator) fail together.
using ContextId = std::uint64_t;

// Where the memory of a message is, and so what can access it.
enum class MemoryKind : std::uint8_t {
  kHost,    // the processor
  kCopy,    // the same; the engine's own copy of a message whose caller does not wait any more
  kDevice,  // memory of a GPU: only the network card. Its placements have names and may be done
            // later, in any order: the caller reports each (Endpoint::on_placed)
};

struct Event {
  enum class Kind : std::uint8_t {
    kSendDone,     // every byte is acknowledged; the caller may use the memory again
    kReceiveDone,  // every byte is placed, or zero if it was lost within the licence
    kClosed,       // the connection is dead; its requests get no further events
    kDeclined,     // the peer that was invited to connect to a listener refuses
    kUnmarked,     // packets to `peer` go without DSCP and ECN: others do not get through
  };
  Kind kind = Kind::kClosed;
  ConnectionId connection = 0;  // kDeclined: the listener; kUnmarked: 0
  RequestId request = 0;
  std::size_t bytes = 0;              // length of the message
  std::size_t lost = 0;               // bytes that were lost and are zeros; kReceiveDone
  std::vector<ByteRange> holes;       // the lost ranges, ascending
  std::span<const std::byte> memory;  // of the message; kSendDone only
  Error error;                        // kClosed and kDeclined
  wire::EndpointAddress peer;         // kClosed and kUnmarked
  bool proven = true;       // kDeclined only: false if the peer does not have the site's secret
  bool ends_alone = false;  // kClosed only: the other connections of the context
                            // continue, see OnSilence and Endpoint::leave()
};

// The message that a placement belongs to. on_placed() returns it when the copy is done.
struct PlacementName {
  ConnectionId connection = 0;  // 0: the copy must be done before the next call to the endpoint
  std::uint64_t message = 0;

  friend bool operator==(const PlacementName&, const PlacementName&) = default;
};

// A request to copy `payload` to `destination` with util's ordered copy (stores ascend within each
// 128-byte line), or to write zeros.
struct Placement {
  std::byte* destination = nullptr;
  std::span<const std::byte> payload;
  std::size_t zeros = 0;  // number of zero bytes to write instead of a payload
  PlacementName name{};   // of copies to posted buffers that may be done later
};

// Keys that only this endpoint, process or site has. Random in production, fixed in tests.
struct Secrets {
  wire::Key own;        // of this endpoint only: derives tokens and path choices
  wire::Key listeners;  // of the process: derives invitations
  wire::Key site;       // shared by all processes that may communicate (DLCP_SECRET_FILE); zero:
                        // none
};

// The reason for not connecting to a listener.
struct Refusal {
  std::string reason;  // from the listener's point of view; see wire::Refuse
  // True if the listener's site secret differs. The refusal is then sealed without a site secret,
  // and the listener's event has `proven` = false.
  bool secrets_differ = false;
};

// Effect on a connection's context if the listener never answers.
enum class OnSilence : std::uint8_t {
  kFailContext,
  kEndAlone,  // the caller has other addresses to try, or fails the context itself
};

enum class ConnectionState : std::uint8_t {
  kCalling,     // the listener has not answered yet
  kConnecting,  // the listener has answered on this stream or on another stream of the association
  kOpen,
  kClosed
};

// The state of one path of a sending association, for display.
struct PathState {
  std::uint64_t association = 0;  // token
  wire::EndpointAddress peer;
  wire::PathIndex path = 0;
  std::uint32_t sent = 0;  // packets; wraps
  double loss = 0;         // smoothed share of packets lost
  Duration delay{0};       // RTT, smoothed; 0: not known
  bool avoided = false;    // the path lost what was sent on it
};

}  // namespace dlcp::core
