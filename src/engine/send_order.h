// Whether the next message of an exchange may be sent, on one way out of this host: one after the
// other, in the order of the exchange. All ranks go round from the one behind them, so that few
// meet at a receiver; who is ahead of the others waits there, behind them. Were he to go on with
// somebody else they would meet ever more. But who has not posted his receives holds up nobody: he
// may be waiting for what others are to have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dlcp::engine {

// `Line`: names a connection.
template <class Line>
class SendOrder {
 public:
  // Whether a message may be posted on `line` now, and is; `most`: AllReduce::peers_at_once.
  // `has_sendable(line)`: of what was posted there before.
  template <class HasSendable>
  bool admits(Line line, std::size_t most, HasSendable has_sendable) {
    if (most > 1 && std::ranges::find(sending_, line) != sending_.end()) return true;
    std::erase_if(sending_, [&](Line each) { return !has_sendable(each); });
    if (sending_.size() >= most) return false;
    sending_.push_back(line);
    return true;
  }

 private:
  std::vector<Line> sending_;  // had something to send when last looked at
};

}  // namespace dlcp::engine
