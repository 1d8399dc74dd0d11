// Decides whether the next message of an exchange may be sent on one way out of this host: one
// message after another, in the order of the exchange. Each rank begins with the peer after it, so
// that few ranks send to the same receiver. A rank that is ahead of the others waits at its
// receiver, behind them; if it continued with another peer, more and more ranks would meet at one
// receiver. A receiver that has not posted its receives does not block the order, because it may be
// waiting for messages to others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dlcp::engine {

// `Line` identifies a connection.
template <class Line>
class SendOrder {
 public:
  // True if a message may be posted on `line` now; it then counts as posted. `most` is
  // AllReduce::peers_at_once. `has_sendable(line)` is true if messages posted there can still be
  // sent.
  template <class HasSendable>
  bool admits(Line line, std::size_t most, HasSendable has_sendable) {
    if (most > 1 && std::ranges::find(sending_, line) != sending_.end()) return true;
    std::erase_if(sending_, [&](Line each) { return !has_sendable(each); });
    if (sending_.size() >= most) return false;
    sending_.push_back(line);
    return true;
  }

 private:
  std::vector<Line> sending_;  // had something to send at the last check
};

}  // namespace dlcp::engine
