// Two endpoints, and between them a network that a byte string controls: it drops, duplicates,
// delays and flips single datagrams, changes the network's conditions and its MTU, and freezes a
// host. A benign network never forges: once its bytes are used up and it is clean again, all
// requests must complete. A hostile one also forges datagrams with correct tags: then connections
// may fail, but nothing may crash, stand still, write where no receive is posted, or lose more than
// a licence allows. The hosts run the engine's pump; the input also determines the kind of their
// cards.
//
// Much smaller and faster than World (test/sim), which has links, queues and switches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "byte_card.h"
#include "conversation.h"
#include "util/rng.h"

namespace dlcp::test {

class ByteNetwork {
 public:
  explicit ByteNetwork(FuzzInput& input);
  // Throws Violation if a property does not hold.
  void run();
  // A hash of all datagrams sent and all completions.
  std::uint64_t event_hash() const { return datapath::sim::mix(sent_hash_, ends_.hash()); }

 private:
  // Conditions for all datagrams sent while they last.
  struct Weather {
    double drop = 0;
    double duplicate = 0;
    double mark = 0;
    Duration jitter{};
    std::size_t bytes_max = 65'536;  // larger datagrams are lost
    std::uint32_t black_holes = 0;   // a bit for each path
  };

  void act();
  void forge();
  void make_right(std::vector<std::byte>& datagram, bool fresh);
  void inject(Datagram datagram);
  void change_weather();
  void work_on(Datagram& datagram, unsigned action);
  void run_for(Duration duration);
  bool step(Time limit);  // false if no event occurs up to the limit
  Time next_event();
  void deliver_due();
  void drive(HostIndex host);
  void send(HostIndex from, std::vector<std::byte> bytes, wire::PathIndex path);
  ByteCard card(HostIndex host);

  FuzzInput& input_;
  const std::uint8_t kind_;
  const bool hostile_;
  Rng rng_;
  Time now_;
  std::array<ByteCard, 2> cards_;
  Conversation ends_;
  std::array<Time, 2> frozen_until_{};
  Weather weather_;
  std::vector<Datagram> in_flight_;  // in no order
  std::vector<Datagram> seen_;       // for replays and forgeries
  std::size_t sent_ = 0;
  std::uint64_t sent_hash_ = 0;
  std::size_t forged_ = 0;
  std::size_t steps_at_this_time_ = 0;
};

}  // namespace dlcp::test
