// One place in an endpoint's table: a listener, a connection, or what a connection left.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/channel.h"
#include "core/departed.h"
#include "core/endpoint_types.h"
#include "core/recv_connection.h"
#include "core/send_connection.h"
#include "util/ring_queue.h"

namespace dlcp::core {

struct Listener {
  wire::Key key;                         // seals what comes before a connection
  wire::Key key_without_site;            // of who has the invitation and not the site's secret
  RingQueue<std::uint64_t> acceptable;   // tokens of connections that have started
  std::vector<std::uint64_t> half_open;  // of those that may not have, the oldest first
  bool declined = false;                 // somebody has refused to connect
  bool declined_unproven = false;        // somebody who did not have the site's secret
};
// How a receiving connection is known before its sender knows its token. Only who has an invitation
// gets here, with a token of his own choice.
struct SenderName {
  std::uint64_t token = 0;
  wire::EndpointAddress address;

  friend bool operator==(const SenderName&, const SenderName&) = default;
  struct Hash {
    std::size_t operator()(const SenderName& name) const { return name.token; }
  };
};
using SendPtr = std::unique_ptr<SendConnection>;
using RecvPtr = std::unique_ptr<RecvConnection>;
struct Slot {
  std::uint64_t token = 0;  // 0: free
  std::uint32_t index = 0;
  ContextId context = 0;
  Channel channel;
  std::variant<std::monostate, Listener, SendPtr, RecvPtr, Departed> what;
  std::uint64_t listener = 0;  // token of the listener a receiving connection came through
  bool held_by_user = false;   // the caller above knows this connection and has not closed it
  bool in_ready = false;
  Time armed_at = kNever;  // earliest entry of this slot among the timers

  template <class T>
  T* get() {
    return std::get_if<T>(&what);
  }
};

// When a slot wants to be looked at.
struct SlotTimer {
  Time at;
  std::uint32_t index = 0;

  friend bool operator>(const SlotTimer& a, const SlotTimer& b) { return a.at > b.at; }
};

}  // namespace dlcp::core
