#include "wire/keys.h"

#include <set>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::wire;

namespace {

const Key kProcess{1, 2};
const Key kSite{3, 4};

}  // namespace

TEST_CASE(
    "a listener's invitation can be recomputed from its number, and differs from all others") {
  CHECK(invitation(kProcess, 7) == invitation(kProcess, 7));
  std::set<std::uint64_t> tokens;
  for (std::uint32_t number = 0; number < 1000; ++number) {
    tokens.insert(listener_token(invitation(kProcess, number)));
    tokens.insert(invitation(kProcess, number).secret.low);
    tokens.insert(invitation(kProcess, number).secret.high);
  }
  CHECK(tokens.size() == 3000);
  CHECK_FALSE(invitation(kProcess, 7) == invitation({1, 3}, 7));
}

TEST_CASE("a listener's key depends on both its invitation and the site's secret") {
  const Invitation ours = invitation(kProcess, 1);
  CHECK(listener_key(ours, kSite) == listener_key(ours, kSite));
  CHECK_FALSE(listener_key(ours, kSite) == listener_key(ours, {}));
  CHECK_FALSE(listener_key(ours, kSite) == listener_key(ours, {3, 5}));
  CHECK_FALSE(listener_key(ours, kSite) == listener_key(invitation(kProcess, 2), kSite));
}

TEST_CASE("a connection's keys depend on both tokens, and each direction has its own key") {
  const Key key{5, 6};
  const auto keys = connection_keys(key, 10, 20);
  CHECK(keys == connection_keys(key, 10, 20));
  CHECK_FALSE(keys.to_receiver == keys.to_sender);
  for (const auto& other : {connection_keys(key, 11, 20), connection_keys(key, 10, 21),
                            connection_keys(key, 20, 10), connection_keys({5, 7}, 10, 20)}) {
    CHECK_FALSE(keys.to_receiver == other.to_receiver);
    CHECK_FALSE(keys.to_sender == other.to_sender);
  }
}

TEST_CASE("fingerprints distinguish secrets, and a secret from none") {
  CHECK(fingerprint({}) == 0);
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 1; i <= 2000; ++i)
    seen.insert(fingerprint({i, 0}));
  CHECK(seen.size() == 2000);
  CHECK(*seen.begin() > 0);
}
