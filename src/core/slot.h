// One place in an endpoint's table: a listener, a connection, or what a connection left.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "core/departed.h"
#include "core/endpoint_types.h"
#include "core/recv_connection.h"
#include "core/send_connection.h"
#include "util/ring_queue.h"

namespace dlcp::core {

struct Listener {
  RingQueue<std::uint64_t> acceptable;  // tokens of connections that have started
};
using SendPtr = std::unique_ptr<SendConnection>;
using RecvPtr = std::unique_ptr<RecvConnection>;
struct Slot {
  std::uint64_t token = 0;  // 0: free. Low 32 bits: index of the slot; the rest: random
  ContextId context = 0;
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

}  // namespace dlcp::core
