// Which keys frames are sealed with, and where they come from. A listener's invitation travels in
// its handle: who has it can open a connection, nobody else can. From it and the site's secret
// (DLCP_SECRET_FILE), if there is one, comes the listener's key, which seals what belongs to no
// connection yet; from that and both tokens come the two keys of a connection, one per direction.
// Every derivation is SipHash-2-4 under a label of its own.
#pragma once

#include <cstdint>

#include "util/siphash.h"

namespace dlcp::wire {

using Key = SipKey;

// What a listener gives away so that it can be connected to.
struct Invitation {
  std::uint32_t number = 0;  // of the listener in its process
  Key secret;

  friend bool operator==(const Invitation&, const Invitation&) = default;
};

// A process needs to remember none of its listeners: number and its own secret make them again.
Invitation invitation(const Key& process_secret, std::uint32_t number);
// What a listener is addressed by; says nothing about its secret.
std::uint64_t listener_token(const Invitation& of);
// Unknown to whoever lacks either of the two. Without a site's secret that one is zero.
Key listener_key(const Invitation& of, const Key& site_secret);

struct ConnectionKeys {
  Key to_receiver;
  Key to_sender;

  friend bool operator==(const ConnectionKeys&, const ConnectionKeys&) = default;
};
ConnectionKeys connection_keys(const Key& listener_key, std::uint64_t sender_token,
                               std::uint64_t receiver_token);

// Of the cipher for payloads that go in the direction of `direction`; it says nothing about that.
Key payload_key(const Key& direction);

// The next of a sequence of numbers that nobody can foresee.
std::uint64_t draw(const Key& key, std::uint64_t count);
// Tells two secrets apart without giving one away: 1..255, and 0 for none.
std::uint8_t fingerprint(const Key& site_secret);

}  // namespace dlcp::wire
