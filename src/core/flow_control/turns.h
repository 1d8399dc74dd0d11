// Of those who send to a host at once the few that began first send as much as they may, the others
// a few packets in flight each, until it is their turn: the receiver serves in order instead of
// everybody alike.
//
// Who is served alike ends alike. In an exchange of all with all those who have met at one receiver
// then meet at the next one as well, and whom they catch up with goes on with them, until most
// receivers have nobody. In order they part. (Receivers of Homa, SIGCOMM 2018, serve a few senders
// so, the shortest transfers first; here lengths are alike, and what follows is not known.)
#pragma once

#include <cstddef>
#include <vector>

#include "util/time.h"

namespace dlcp::core {

// One sender's place in the line.
struct Turn {
  bool in_line = false;
  Time heard{};  // of data
};

class Turns {
 public:
  // So many at once. One alone might not keep the host's link busy, as it sends elsewhere as well.
  static constexpr std::size_t kServed = 4;
  // Who has not been heard for so long is none of them: he waits for something else. On links so
  // slow that packets are further apart everybody has a turn.
  static constexpr Duration kSilent = std::chrono::microseconds(50);
  // He keeps his place for so long.
  static constexpr Duration kGone = std::chrono::milliseconds(1);

  // Data of a message came in; the sender stands in the line from then on, until leave(): its
  // message has ended, or it has gone.
  void on_data(Time now, Turn& turn);
  void leave(Turn& turn);
  // Whether the sender is among those served; one who is not in the line would stand at its end.
  bool has(const Turn& turn);
  bool crowded() const { return line_.size() > kServed; }

 private:
  std::vector<Turn*> line_;
  Time now_{};  // of the last data
};

}  // namespace dlcp::core
