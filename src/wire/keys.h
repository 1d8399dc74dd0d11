// The keys that seal frames, and their derivation. A listener's invitation is part of its handle:
// only a process that has it can open a connection. The listener's key is derived from the
// invitation and the site's secret (DLCP_SECRET_FILE), if there is one; it seals frames that belong
// to no connection yet. The two keys of a connection, one per direction, are derived from the
// listener's key and both tokens. Every derivation is SipHash-2-4 under its own label.
#pragma once

#include <cstdint>

#include "util/hash/siphash.h"

namespace dlcp::wire {

using Key = SipKey;

// The part of a handle that permits connecting to its listener.
struct Invitation {
  std::uint32_t number = 0;  // of the listener in its process
  Key secret;

  friend bool operator==(const Invitation&, const Invitation&) = default;
};

// A process stores no invitations: number and process secret give them again.
Invitation invitation(const Key& process_secret, std::uint32_t number);
// The address of a listener in frames; reveals nothing about its secret.
std::uint64_t listener_token(const Invitation& of);
// Cannot be computed without both secrets. Without a site secret, `site_secret` is zero.
Key listener_key(const Invitation& of, const Key& site_secret);

struct ConnectionKeys {
  Key to_receiver;
  Key to_sender;

  friend bool operator==(const ConnectionKeys&, const ConnectionKeys&) = default;
};
ConnectionKeys connection_keys(const Key& listener_key, std::uint64_t sender_token,
                               std::uint64_t receiver_token);

// The key of the cipher for payloads in one direction; reveals nothing about `direction`.
Key payload_key(const Key& direction);

// A sequence of numbers that cannot be predicted without `key`.
std::uint64_t draw(const Key& key, std::uint64_t count);
// Distinguishes two secrets, and a secret from none (0). Handles contain it. Anyone who reads a
// handle can check guesses of the secret offline, as with the handle and the tag of one packet.
// This does not help to find 128 random bits.
std::uint32_t fingerprint(const Key& site_secret);

}  // namespace dlcp::wire
