// What stands between a connection and the network: the keys that its packets are sealed with, the
// host they come from, and which of them have come. It outlives the connection in its slot, so that
// what is left of one is as hard to fool. Knows nothing of what packets say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/channel/replay_window.h"
#include "core/counters.h"
#include "wire/cipher.h"
#include "wire/data_header.h"
#include "wire/packet.h"

namespace dlcp::core {

class Channel {
 public:
  Channel() = default;
  // `incoming` opens what the peer has sealed, `sealing` seals what it gets. `ciphers`: where that
  // includes payloads; else null.
  Channel(const wire::Key& sealing, const wire::DataSeal& incoming, const wire::HostAddress& peer,
          const wire::CipherSource* ciphers = nullptr)
      : Channel(sealing, incoming, peer, ciphers, 0) {}

  // Other keys from here on, and a peer that begins to count anew.
  void rekey(const wire::Key& sealing, const wire::Key& opening) {
    *this =
        Channel(sealing, {opening, incoming_.protection, incoming_.tags}, peer_, ciphers_, next_);
  }
  const wire::Key& sealing_key() const { return sealing_; }
  const wire::Key& opening_key() const { return incoming_.key; }
  const wire::TagSource* tags() const { return incoming_.tags; }
  std::uint32_t next_sequence() { return static_cast<std::uint32_t>(next_++); }

  // Why the packet must be dropped; nullopt takes it, and from then on knows it as one that has
  // come. Asked in the order of cost. `data`, decoded from it, is given the plain payload, which
  // stays until the next one.
  std::optional<Counter> refuse_data(const wire::RxPacket& packet, wire::DataPacket& data);
  std::optional<Counter> refuse_control(const wire::RxPacket& packet);
  // Seals the payload of the packet with that number on its path; `out` is longer by a tag.
  void seal_payload(const wire::DataHeader& header, std::uint64_t number,
                    std::span<const std::byte> header_bytes, std::span<const std::byte> payload,
                    std::span<std::byte> out);
  // The control frame taken last is younger than all before it.
  bool last_is_newest() const { return last_is_newest_; }

  // Whether the network says that the packet comes from another host; not every network tells.
  static bool is_foreign(const wire::RxPacket& packet, const wire::HostAddress& peer) {
    return packet.source.known() && peer.known() && !(packet.source == peer);
  }

 private:
  Channel(const wire::Key& sealing, const wire::DataSeal& incoming, const wire::HostAddress& peer,
          const wire::CipherSource* ciphers, std::uint64_t next)
      : sealing_(sealing), incoming_(incoming), peer_(peer), ciphers_(ciphers), next_(next) {}
  bool open_payload(std::span<const std::byte> datagram, std::uint64_t number,
                    wire::DataPacket& data);

  wire::Key sealing_;
  wire::DataSeal incoming_;
  wire::HostAddress peer_;
  const wire::CipherSource* ciphers_ = nullptr;
  // Of the one direction in which this connection has data, made with the first packet.
  std::shared_ptr<wire::Cipher> cipher_;
  std::vector<std::byte> plain_;
  std::uint64_t next_ = 0;  // number of our next control frame
  bool last_is_newest_ = false;
  ReplayWindow control_;
  std::vector<ReplayWindow> data_;  // by path
};

}  // namespace dlcp::core
