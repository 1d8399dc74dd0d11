#include "wire/keys.h"

#include <array>

#include "wire/codec.h"

namespace dlcp::wire {
namespace {

enum class Label : std::uint64_t {
  kInvitation = 1,
  kListenerToken,
  kListenerKey,
  kToReceiver,
  kToSender,
  kDraw,
  kFingerprint,
  kPayload,
};

std::uint64_t derive_word(const Key& key, Label label, std::uint64_t part, std::uint64_t a,
                          std::uint64_t b) {
  SipHash<2, 4> hash(key);
  hash.add(static_cast<std::uint64_t>(label) << 8 | part);
  hash.add(a);
  hash.add(b);
  hash.add_last({});
  return hash.finish();
}

Key derive(const Key& key, Label label, std::uint64_t a, std::uint64_t b) {
  return {derive_word(key, label, 0, a, b), derive_word(key, label, 1, a, b)};
}

}  // namespace

Invitation invitation(const Key& process_secret, std::uint32_t number) {
  return {number, derive(process_secret, Label::kInvitation, number, 0)};
}

std::uint64_t listener_token(const Invitation& of) {
  return derive_word(of.secret, Label::kListenerToken, 0, of.number, 0);
}

// The sum of two functions, each keyed by one secret: unknown as long as one secret is.
Key listener_key(const Invitation& of, const Key& site_secret) {
  const Key ours = derive(of.secret, Label::kListenerKey, site_secret.low, site_secret.high);
  const Key sites = derive(site_secret, Label::kListenerKey, of.secret.low, of.secret.high);
  return {ours.low ^ sites.low, ours.high ^ sites.high};
}

ConnectionKeys connection_keys(const Key& listener_key, std::uint64_t sender_token,
                               std::uint64_t receiver_token) {
  return {derive(listener_key, Label::kToReceiver, sender_token, receiver_token),
          derive(listener_key, Label::kToSender, sender_token, receiver_token)};
}

Key payload_key(const Key& direction) {
  return derive(direction, Label::kPayload, 0, 0);
}

std::uint64_t draw(const Key& key, std::uint64_t count) {
  return derive_word(key, Label::kDraw, 0, count, 0);
}

std::uint32_t fingerprint(const Key& site_secret) {
  if (site_secret == Key{}) return 0;
  const auto word =
      static_cast<std::uint32_t>(derive_word(site_secret, Label::kFingerprint, 0, 0, 0));
  return word == 0 ? 1 : word;
}

}  // namespace dlcp::wire
