// Permissions over a fake card: when they are given, refused and revoked, that keys do not come
// back too soon, and what happens when the card refuses.
#include <set>

#include "datapath/verbs/placement/permissions/window_permissions.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

using Kind = PermissionEvent::Kind;

std::vector<Kind> kinds(const std::vector<PermissionEvent>& events) {
  std::vector<Kind> kinds;
  for (const PermissionEvent& event : events)
    kinds.push_back(event.kind);
  return kinds;
}

// A pair with a link over both kinds of permissions.
struct Permissions : Pair {
  explicit Permissions(PermissionKind permissions = GENERATE(PermissionKind::kRegion,
                                                             PermissionKind::kWindow))
      : Pair(permissions), kind(permissions) {
    connect(1);
  }
  PermissionKind kind;
};

TEST_CASE("a permission is valid from its event until it is revoked") {
  Permissions pair;
  PermissionId id{};
  const Permission to = pair.permit(pair.b.piece(2, 4), &id);
  CHECK(to.address == reinterpret_cast<std::uintptr_t>(pair.b.piece(2, 4).data()));
  CHECK(to.bytes == 4 * kPacketBytes);
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.placed().size() == 1);
  pair.b.placer().revoke(id);
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  const std::size_t written = pair.card->written;
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.placed().empty());
  CHECK(pair.card->written == written);
  CHECK(pair.card->dead_keys == 4);
  // The queue pair still works.
  CHECK(pair.place(pair.permit(pair.b.piece(2, 4)), 0, 4) == 4);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("a permission covers its piece of memory only") {
  Permissions pair;
  const Permission to = pair.permit(pair.b.piece(2, 4));
  CHECK(pair.place(to, 3, 2) == 2);  // the second is beyond the end
  Permission before = to;
  before.address -= kPacketBytes;
  CHECK(pair.place(before, 0, 1) == 1);
  const auto runs = pair.placed();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].packets == 1);
  CHECK(pair.card->dead_keys == 2);
}

TEST_CASE("memory that is not registered gets no permission") {
  Permissions pair;
  std::vector<std::byte> other(kPacketBytes);
  const PermissionId id = pair.b.placer().permit(pair.b.link, other);
  const auto events = pair.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].id == id);
  CHECK(events[0].kind == Kind::kRefused);
  pair.b.placer().permit(pair.b.link, {});
  CHECK(kinds(pair.events()) == std::vector{Kind::kRefused});
}

TEST_CASE("a permission that is revoked before it was given is only reported as revoked") {
  Permissions pair;
  const PermissionId id = pair.b.placer().permit(pair.b.link, pair.b.piece(0, 4));
  pair.b.placer().revoke(id);
  pair.b.placer().revoke(id);
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  CHECK(pair.events().empty());
}

TEST_CASE("a bind that has not completed is neither granted nor revoked") {
  Permissions pair(PermissionKind::kWindow);
  pair.card->holds_binds = true;
  const PermissionId first = pair.b.placer().permit(pair.b.link, pair.b.piece(0, 4));
  const PermissionId second = pair.b.placer().permit(pair.b.link, pair.b.piece(4, 4));
  CHECK(pair.events().empty());
  pair.b.placer().revoke(second);
  CHECK(pair.events().empty());
  pair.card->release_binds();
  auto events = pair.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].id == first);
  pair.b.placer().revoke(first);
  CHECK(pair.events().empty());
  pair.card->release_binds();
  events = pair.events();
  CHECK(kinds(events) == std::vector{Kind::kRevoked, Kind::kRevoked});
}

TEST_CASE("the end of a registration revokes permissions in it before it returns") {
  Permissions pair;
  const bool has_other_user = GENERATE(false, true);
  if (has_other_user) REQUIRE(pair.b.datapath->register_memory(pair.b.memory).ok());
  PermissionId id{};
  const Permission to = pair.permit(pair.b.piece(0, 4), &id);
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.placed().size() == 1);
  pair.b.datapath->release_memory(pair.b.memory);
  CHECK(pair.place(to, 0, 4) == 4);
  CHECK(pair.card->dead_keys == 4);
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  if (!has_other_user) return;
  const Permission again = pair.permit(pair.b.piece(0, 4), &id);  // still registered
  CHECK(pair.place(again, 0, 4) == 4);
  CHECK(pair.placed().size() == 1);
}

TEST_CASE("closing a link revokes its permissions without events, and only its own") {
  Permissions pair;
  const Permission other = [&] {
    const LinkId link = pair.b.placer().open_link(pair.a.datapath->local_address(), {}).value();
    pair.b.placer().permit(link, pair.b.piece(8, 4));
    return pair.events().at(0).permission;
  }();
  PermissionId id{};
  pair.permit(pair.b.piece(0, 4), &id);
  pair.b.placer().permit(pair.b.link, pair.b.piece(4, 4));  // its event is not fetched
  pair.b.placer().close_link(pair.b.link);
  pair.b.placer().revoke(id);
  CHECK(pair.events().empty());
  CHECK(other.key != 0);
  CHECK(pair.b.count_of("permissions_revoked") == 2);
}

TEST_CASE("a key does not come back within a second, even if the driver would give it out again") {
  Permissions pair;
  pair.card->reuses_keys = true;
  std::map<std::uint32_t, Time> ended;
  std::size_t granted = 0;
  for (int round = 0; round < 3000; ++round) {
    const PermissionId id = pair.b.placer().permit(pair.b.link, pair.b.piece(0, 4));
    for (const PermissionEvent& event : pair.events()) {
      if (event.kind != Kind::kGranted) continue;
      ++granted;
      const auto before = ended.find(event.permission.key);
      if (before != ended.end()) CHECK(pair.now - before->second >= kKeyLifetime);
      pair.b.placer().revoke(id);
      CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
      ended[event.permission.key] = pair.now;
    }
    pair.now += 3ms;
  }
  CHECK(granted > 1000);
  CHECK(ended.size() < granted);  // some came back later
}

TEST_CASE("no key can be used for writes within a second after it was revoked") {
  Permissions pair(PermissionKind::kRegion);
  pair.card->reuses_keys = true;
  for (int round = 0; round < 20; ++round) {
    PermissionId id{};
    pair.permit(pair.b.piece(0, 4), &id);
    pair.b.placer().revoke(id);
    CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  }
  CHECK(pair.card->writable.size() == 20);
  for (const auto& [key, times] : pair.card->writable)
    CHECK(times == 1);
}

TEST_CASE("a window rests before its key would come back") {
  Permissions pair(PermissionKind::kWindow);
  std::set<std::uint32_t> keys;
  for (unsigned round = 0; round < 10 * WindowPermissions::kBindsMax; ++round) {
    PermissionId id{};
    CHECK(keys.insert(pair.permit(pair.b.piece(0, 1), &id).key).second);
    pair.b.placer().revoke(id);
    pair.events();
  }
  CHECK(pair.card->binds == 20 * WindowPermissions::kBindsMax);
}

TEST_CASE("when all windows are in use, more permissions are refused") {
  Permissions pair(PermissionKind::kWindow);
  std::vector<PermissionId> ids;
  for (std::size_t i = 0; i < 70; ++i)
    ids.push_back(pair.b.placer().permit(pair.b.link, pair.b.piece(i, 1)));
  std::vector<PermissionEvent> events(100);
  events.resize(pair.b.placer().poll_permissions(pair.now, events));
  CHECK(std::ranges::count(events, Kind::kGranted, &PermissionEvent::kind) == 64);
  CHECK(std::ranges::count(events, Kind::kRefused, &PermissionEvent::kind) == 6);
  pair.b.placer().revoke(ids[0]);
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  pair.b.placer().permit(pair.b.link, pair.b.piece(0, 1));
  CHECK(kinds(pair.events()) == std::vector{Kind::kGranted});
}

TEST_CASE("an unbind that fails still revokes, because the window is freed") {
  Permissions pair(PermissionKind::kWindow);
  PermissionId id{};
  const Permission to = pair.permit(pair.b.piece(0, 4), &id);
  pair.card->fails_binds = true;
  pair.b.placer().revoke(id);
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
  pair.place(to, 0, 4);
  CHECK(pair.card->dead_keys == 4);
  // The work queue is opened again; until it works, permissions are refused.
  pair.b.placer().permit(pair.b.link, pair.b.piece(0, 4));
  CHECK(kinds(pair.events()) == std::vector{Kind::kRefused});
  pair.card->fails_binds = false;
  pair.now += 2s;
  pair.events();
  pair.b.placer().permit(pair.b.link, pair.b.piece(0, 4));
  CHECK(kinds(pair.events()) == std::vector{Kind::kGranted});
}

TEST_CASE("a region that the card refuses to deregister is not reported as revoked") {
  Permissions pair(PermissionKind::kRegion);
  PermissionId id{};
  pair.permit(pair.b.piece(0, 4), &id);
  pair.card->refuses_dereg = true;
  pair.b.placer().revoke(id);
  CHECK(pair.events().empty());
  pair.card->refuses_dereg = false;
  CHECK(kinds(pair.events()) == std::vector{Kind::kRevoked});
}

TEST_CASE(
    "if a registration ends and the card refuses to revoke, no queue pair receives any more") {
  Permissions pair(PermissionKind::kRegion);
  PermissionId id{};
  const Permission to = pair.permit(pair.b.piece(0, 4), &id);
  pair.card->refuses_dereg = true;
  pair.b.datapath->release_memory(pair.b.memory);
  const std::size_t written = pair.card->written;
  pair.place(to, 0, 4);
  CHECK(pair.card->written == written);
  pair.card->refuses_dereg = false;
}

}  // namespace
}  // namespace dlcp::datapath::test
