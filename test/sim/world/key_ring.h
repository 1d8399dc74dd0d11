// Has the invitations of a world's listeners and reads its packets, so that a test can forge
// packets of an attacker who has the keys.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"

namespace dlcp::test {

class KeyRing {
 public:
  void add(const wire::Invitation& listener);
  // Takes every datagram that arrives at any host, in the order of arrival.
  void see(std::span<const std::byte> datagram);

  // Corrects the tag for the datagram's contents; false if its destination is not known.
  bool reseal(std::vector<std::byte>& datagram) const;
  // The frame as the destination's peer would send it next.
  template <class Frame>
  std::vector<std::byte> forge(const Frame& frame) {
    wire::Buffer bytes;
    wire::encode(frame, bytes);
    Destination& to = destinations_.at(frame.destination);
    wire::seal(bytes, to.key, ++to.newest, 0);
    return bytes;
  }
  // The number that the next such frame would have.
  std::optional<std::uint32_t> next_number(std::uint64_t destination) const;

 private:
  struct Destination {
    wire::Key key;
    wire::Protection protection = wire::Protection::kHeader;
    std::uint32_t newest = 0;  // number of a control frame seen
  };

  std::map<std::uint64_t, Destination> destinations_;  // by token
  struct Greeting {
    wire::Key listener_key;
    std::uint64_t association = 0;  // the sender's token
  };
  const Destination* data_destination(std::uint64_t token) const;

  std::map<std::uint64_t, Greeting> greeted_;  // by the sender's token of the stream
  // The key of the listener, by the sender's token of the association and the stream.
  std::map<std::pair<std::uint64_t, std::uint32_t>, wire::Key> listener_keys_;
  std::map<std::uint64_t, std::uint64_t>
      associations_;  // receiver's tokens: from that of a stream to that of its association
};

}  // namespace dlcp::test
