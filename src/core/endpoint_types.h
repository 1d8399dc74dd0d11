// What callers of an Endpoint name and are told: connections, requests, licences, events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/bounded_loss/licence.h"
#include "util/byte_range.h"
#include "util/result.h"
#include "wire/control_frame.h"
#include "wire/keys.h"
#include "wire/packet.h"

namespace dlcp::core {

// Index into the endpoint's table, with a generation: a stale one finds nothing.
using ConnectionId = std::uint64_t;
using ListenerId = std::uint64_t;
// The caller's name for one isend or irecv; comes back in the completion event.
using RequestId = std::uint64_t;
// Connections of one context (NCCL >= 2.28: one communicator) fail together.
using ContextId = std::uint64_t;

struct Event {
  enum class Kind : std::uint8_t {
    kSendDone,     // every byte is acknowledged; the memory is the caller's again
    kReceiveDone,  // every byte is placed, or zero where it was lost within the licence
    kClosed,       // the connection is dead; its requests get no further events
    kDeclined,     // who was to connect to a listener will not
  };
  Kind kind = Kind::kClosed;
  ConnectionId connection = 0;  // kDeclined: the listener
  RequestId request = 0;
  std::size_t bytes = 0;         // of the message
  std::size_t lost = 0;          // of them, zeros in the place of what was lost; kReceiveDone only
  std::vector<ByteRange> holes;  // where they are, ascending
  std::span<const std::byte> memory;  // of the message; kSendDone only
  Error error;                        // kClosed and kDeclined
  wire::EndpointAddress peer;         // kClosed only
  bool proven = true;                 // kDeclined only: false from who lacks our site's secret
  bool was_attempt = false;           // kClosed only: its context goes on, see OnSilence
};

// Of what a placement is a part: comes back when it has been done.
struct PlacementName {
  ConnectionId connection = 0;  // 0: it must be done before anything else is asked of the endpoint
  std::uint64_t message = 0;

  friend bool operator==(const PlacementName&, const PlacementName&) = default;
};

// Copy `payload` to `destination` with util's ordered copy (stores ascend within each 128-byte
// line).
struct Placement {
  std::byte* destination = nullptr;
  std::span<const std::byte> payload;
  std::size_t zeros = 0;  // instead of a payload: so many zero bytes
  PlacementName name{};   // with Config::placed_later, of what goes to a posted buffer
};

// What an endpoint knows and nobody else: unpredictable in production, fixed in tests.
struct Secrets {
  wire::Key own;        // of this endpoint alone: tokens and path choices
  wire::Key listeners;  // of the process: makes invitations
  wire::Key site;       // of everybody who may talk to us (DLCP_SECRET_FILE); zero: none
};

// Why a listener will not be connected to.
struct Refusal {
  std::string reason;  // seen from the listener's side; see wire::Refuse
  // Then the listener could not read what is sealed with ours, and hears it without proof.
  bool secrets_differ = false;
};

// What happens to a connection's context if the listener never answers.
enum class OnSilence : std::uint8_t {
  kFailContext,
  kEndAlone,  // the caller has other addresses to try
};

enum class ConnectionState : std::uint8_t {
  kCalling,     // nothing has come from the listener, and it accepts nothing yet
  kConnecting,  // it has answered, here or to another stream of the association
  kOpen,
  kClosed
};

}  // namespace dlcp::core
