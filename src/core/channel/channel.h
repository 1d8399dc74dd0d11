// The protection between a connection and the network: the keys that seal its packets, the host
// that its packets must come from, and the packet numbers that have been received. It outlives the
// connection in its slot and protects the remaining record as well. It does not depend on the
// contents of packets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/channel/replay_window.h"
#include "core/counters.h"
#include "wire/data/cipher.h"
#include "wire/data/data_header.h"
#include "wire/data/header_tags.h"
#include "wire/packet.h"

namespace dlcp::core {

class Channel {
 public:
  Channel() = default;
  // `incoming` opens the peer's packets, `sealing` seals packets to the peer. `ciphers` is needed
  // if payloads are encrypted; otherwise null.
  Channel(const wire::Key& sealing, const wire::DataSeal& incoming, const wire::HostAddress& peer,
          const wire::CipherSource* ciphers = nullptr)
      : Channel(sealing, incoming, peer, ciphers, 0) {}

  // Uses other keys from now on; the peer's numbers start again.
  void rekey(const wire::Key& sealing, const wire::Key& opening) {
    *this = Channel(sealing, {opening, incoming_.protection}, peer_, ciphers_, next_);
  }
  const wire::Key& sealing_key() const { return sealing_; }
  const wire::Key& opening_key() const { return incoming_.key; }
  wire::Protection protection() const { return incoming_.protection; }
  std::uint64_t next_sequence() { return next_++; }

  // The reason to drop the packet, or nullopt to take it, after which its number counts as
  // received. The cheapest checks come first. `data` was decoded from the packet; its payload
  // becomes the plain text, which stays valid until the next call.
  // `authentic`: the tag has been checked, by the last authentic_together().
  std::optional<Counter> refuse_data(const wire::RxPacket& packet, wire::DataPacket& data,
                                     bool authentic = false);
  // True if the first wire::kTagsTogether packets are authentic data packets with one destination;
  // false if not, or if they must be checked one by one. `first` is the header of the first one.
  bool authentic_together(std::span<const wire::RxPacket> packets, const wire::DataHeader& first) {
    if (packets.size() < wire::kTagsTogether || first.path >= data_.size()) return false;
    together_ = data_[first.path].expand(first.path_sequence);
    return wire::authentic_together(packets, first.destination, incoming_, together_);
  }
  // The number of packets at the front that form a run (wire::authentic_run), are authentic, come
  // from the right host and are newer than all others of their path; 0: they must be checked one by
  // one. `first` is the header of the first one. accept_run() then counts them as received, unless
  // refuse_data() is called for each of them instead.
  std::size_t authentic_run(std::span<const wire::RxPacket> packets, const wire::DataHeader& first);
  void accept_run(const wire::DataHeader& first, std::size_t count);
  std::optional<Counter> refuse_control(const wire::RxPacket& packet);
  // Encrypts the payload of the packet with this number on its path; `out` has room for the tag.
  void seal_payload(wire::PathIndex path, std::uint64_t number,
                    std::span<const std::byte> header_bytes, std::span<const std::byte> payload,
                    std::span<std::byte> out);
  // The control frame taken last has a higher number than all before it.
  bool last_is_newest() const { return last_is_newest_; }

  // True if the packet's source host is known and differs from the peer. Some datapaths do not
  // report the source.
  static bool is_foreign(const wire::RxPacket& packet, const wire::HostAddress& peer) {
    return packet.source.known() && peer.known() && !(packet.source == peer);
  }

 private:
  Channel(const wire::Key& sealing, const wire::DataSeal& incoming, const wire::HostAddress& peer,
          const wire::CipherSource* ciphers, std::uint64_t next)
      : sealing_(sealing), incoming_(incoming), peer_(peer), ciphers_(ciphers), next_(next) {}
  // refuse_data() of a packet from the right host, whose tag is not checked yet.
  std::optional<Counter> refuse_alone(const wire::RxPacket& packet, wire::DataPacket& data);
  bool open_payload(std::span<const std::byte> datagram, std::uint64_t number,
                    wire::DataPacket& data);

  wire::Key sealing_;
  wire::DataSeal incoming_;
  wire::HostAddress peer_;
  const wire::CipherSource* ciphers_ = nullptr;
  // For the one direction in which this connection has data; made with the first packet.
  std::shared_ptr<wire::Cipher> cipher_;
  std::vector<std::byte> plain_;
  std::uint64_t next_ = 0;  // number of the next control frame to send
  bool last_is_newest_ = false;
  ReplayWindow control_;
  std::vector<ReplayWindow> data_;  // by path
  std::uint64_t together_ = 0;      // authentic_together() has used its kUnsentBits
};

}  // namespace dlcp::core
