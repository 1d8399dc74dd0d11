// Flushes that the network card has not finished: reads by which it makes received data visible to
// a GPU.
#pragma once

#include <deque>
#include <utility>

#include "datapath/placer.h"
#include "engine/lane/connections/connection_table.h"
#include "engine/thread/presence.h"

namespace dlcp::engine {

class Flushes {
 public:
  // The card has begun to flush for this request.
  void add(const Connection& connection, const Request& request) {
    waiting_.push_back({connection.id, request.name});
  }
  // Completes the requests of flushes that are finished.
  void take(Time now, datapath::Placer* card, ConnectionTable& connections, Presence& presence) {
    if (waiting_.empty()) return;
    for (std::size_t count = card->flushed(now); count > 0 && !waiting_.empty(); --count) {
      const auto [id, name] = waiting_.front();
      waiting_.pop_front();
      Connection* const connection = connections.find(id);
      Request* const request = connection != nullptr ? connection->find(name) : nullptr;
      if (request == nullptr ||
          request->state.load(std::memory_order_relaxed) != Request::State::kPending)
        continue;
      if (request->waited_for) presence.has_got();
      request->state.store(Request::State::kDone, std::memory_order_release);
    }
  }

 private:
  std::deque<std::pair<core::ConnectionId, core::RequestId>> waiting_;  // in order
};

}  // namespace dlcp::engine
