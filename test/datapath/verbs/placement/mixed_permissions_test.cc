// A device that uses memory windows for memory of the host and memory regions for dma-bufs, at the
// same time. The GPU memory is mapped without any access, so that a test ends if the processor
// touches it.
#include "gpu_buffer.h"
#include "placer_pair.h"

namespace dlcp::datapath::test {
namespace {

using Kind = PermissionEvent::Kind;

constexpr std::size_t kBytes = std::size_t{16} * 4096;

// A connected pair; side b has a dma-buf beside its memory of the host.
struct Mixed : Pair {
  explicit Mixed(PlacementTransport transport = PlacementTransport::kUc)
      : Pair(PermissionKind::kWindow, transport, {.dma_buf = true, .peer_memory = false}) {
    connect(1);
    REQUIRE(b.placer().register_gpu_memory(buffer.as_dma_buf()).ok());
    regions_before = card->regions.size();
  }
  std::span<std::byte> on_gpu(std::size_t packet, std::size_t packets) const {
    return buffer.bytes().subspan(packet * kPacketBytes, packets * kPacketBytes);
  }
  std::size_t regions() const { return card->regions.size() - regions_before; }
  // Sends a packet and returns true if it was placed.
  bool is_placed(const Permission& to) {
    const std::size_t dead = card->dead_keys;
    CHECK(place(to, 0, 1) == 1);
    const bool arrived = placed().size() == 1;
    CHECK(arrived == (card->dead_keys == dead));
    return arrived;
  }
  std::vector<PermissionId> revoked() {
    std::vector<PermissionId> ids;
    for (const PermissionEvent& event : events()) {
      CHECK(event.kind == Kind::kRevoked);
      ids.push_back(event.id);
    }
    return ids;
  }

  GpuBuffer buffer{kBytes};
  std::size_t regions_before = 0;
};

TEST_CASE("one link has windows in memory of the host and regions in a dma-buf") {
  Mixed pair;
  PermissionId window{}, region{};
  const Permission to_host = pair.permit(pair.b.piece(0, 4), &window);
  CHECK(pair.card->binds == 1);
  CHECK(pair.regions() == 0);
  const Permission to_gpu = pair.permit(pair.on_gpu(4, 4), &region);
  CHECK(pair.card->binds == 1);
  CHECK(pair.regions() == 1);
  CHECK(pair.place(to_host, 0, 4) == 4);
  CHECK(pair.place(to_gpu, 0, 4) == 4);
  CHECK(pair.placed().size() == 2);
  const auto sent = pair.a.piece(0, 4);
  CHECK(std::ranges::equal(pair.b.piece(0, 4), sent));
  CHECK(pair.buffer.content(4 * kPacketBytes, 4 * kPacketBytes) ==
        std::vector<std::byte>(sent.begin(), sent.end()));

  pair.b.placer().revoke(region);
  CHECK(pair.revoked() == std::vector{region});
  CHECK(pair.regions() == 0);
  CHECK(pair.card->binds == 1);
  CHECK_FALSE(pair.is_placed(to_gpu));
  CHECK(pair.is_placed(to_host));
  pair.b.placer().revoke(window);
  CHECK(pair.revoked() == std::vector{window});
  CHECK(pair.card->binds == 2);
  CHECK_FALSE(pair.is_placed(to_host));
}

TEST_CASE("permissions of both kinds that are given and revoked together are all reported") {
  Mixed pair;
  std::vector<PermissionId> ids;
  for (std::size_t i = 0; i < 40; ++i) {
    ids.push_back(pair.b.placer().permit(pair.b.link, pair.b.piece(i, 1)));
    ids.push_back(pair.b.placer().permit(pair.b.link, pair.on_gpu(i, 1)));
  }
  CHECK(pair.b.placer().awaits_poll());
  CHECK(pair.events().size() == 64);  // all that it has room for
  CHECK(pair.b.placer().awaits_poll());
  CHECK(pair.events().size() == 16);
  CHECK_FALSE(pair.b.placer().awaits_poll());
  for (const PermissionId id : ids)
    pair.b.placer().revoke(id);
  auto revoked = pair.revoked();
  std::ranges::copy(pair.revoked(), std::back_inserter(revoked));
  std::ranges::sort(revoked);
  CHECK(revoked == ids);
  CHECK(pair.b.count_of("permissions_granted") == 80);
  CHECK(pair.b.count_of("permissions_revoked") == 80);
}

TEST_CASE("the end of a registration revokes at once, and only in its memory") {
  Mixed pair;
  PermissionId window{}, region{};
  const Permission to_host = pair.permit(pair.b.piece(0, 4), &window);
  const Permission to_gpu = pair.permit(pair.on_gpu(0, 4), &region);
  SECTION("of the dma-buf") {
    pair.b.datapath->release_memory(pair.buffer.bytes());
    CHECK_FALSE(pair.is_placed(to_gpu));
    CHECK(pair.is_placed(to_host));
    CHECK(pair.revoked() == std::vector{region});
  }
  SECTION("of the host's memory") {
    pair.b.datapath->release_memory(pair.b.memory);
    CHECK_FALSE(pair.is_placed(to_host));
    CHECK(pair.is_placed(to_gpu));
    CHECK(pair.revoked() == std::vector{window});
  }
}

TEST_CASE("the end of a link revokes the permissions of both kinds") {
  Mixed pair;
  pair.permit(pair.b.piece(0, 4));
  pair.permit(pair.on_gpu(0, 4));
  pair.b.placer().close_link(pair.b.link);
  CHECK(pair.events().empty());
  CHECK(pair.regions() == 0);
  CHECK(pair.b.count_of("permissions_revoked") == 2);
}

TEST_CASE("a region that the card refuses to end does not keep a window from its end") {
  Mixed pair;
  PermissionId window{}, region{};
  const Permission to_host = pair.permit(pair.b.piece(0, 4), &window);
  const Permission to_gpu = pair.permit(pair.on_gpu(0, 4), &region);
  pair.card->refuses_dereg = true;
  SECTION("one after the other") {
    pair.b.placer().revoke(region);
    pair.b.placer().revoke(window);
    CHECK(pair.revoked() == std::vector{window});
    CHECK_FALSE(pair.is_placed(to_host));
    CHECK(pair.b.placer().awaits_poll());
    pair.card->refuses_dereg = false;
    CHECK(pair.revoked() == std::vector{region});
    CHECK_FALSE(pair.is_placed(to_gpu));
  }
  SECTION("with the registration of the dma-buf: no queue pair receives any more") {
    pair.b.datapath->release_memory(pair.buffer.bytes());
    const std::size_t written = pair.card->written;
    pair.place(to_gpu, 0, 4);
    CHECK(pair.card->written == written);
    pair.card->refuses_dereg = false;
  }
}

TEST_CASE("over RC too, both kinds of permissions are used on one link") {
  Mixed pair(PlacementTransport::kRc);
  PermissionId region{};
  CHECK(pair.place(pair.permit(pair.b.piece(0, 4)), 0, 4) == 4);
  CHECK(pair.place(pair.permit(pair.on_gpu(0, 4), &region), 0, 4) == 4);
  pair.card->step();
  CHECK(pair.placed().size() == 2);
  pair.b.placer().revoke(region);
  CHECK(pair.revoked() == std::vector{region});
}

TEST_CASE("a key of one kind does not come back in the other within a second") {
  Mixed pair;
  pair.card->shares_keys = true;
  std::map<std::uint32_t, Time> ended;
  std::size_t granted = 0;
  const auto give_and_revoke = [&](std::span<std::byte> memory) {
    const PermissionId id = pair.b.placer().permit(pair.b.link, memory);
    for (const PermissionEvent& event : pair.events()) {
      if (event.kind != Kind::kGranted) continue;
      ++granted;
      const std::uint32_t key = event.permission.key;
      if (ended.contains(key)) CHECK(pair.now - ended[key] >= kKeyLifetime);
      pair.b.placer().revoke(id);
      CHECK(pair.revoked() == std::vector{id});
      ended[key] = pair.now;
    }
  };
  for (int round = 0; round < 1000; ++round) {
    give_and_revoke(pair.on_gpu(0, 4));
    give_and_revoke(pair.b.piece(0, 4));
    if (round % 10 == 0) {  // frees the windows, so that their keys are given out again
      const LinkId link = pair.b.placer().open_link(pair.a.datapath->local_address(), {}).value();
      pair.b.placer().permit(link, pair.b.piece(0, 4));
      for (const PermissionEvent& event : pair.events())
        if (event.kind == Kind::kGranted) ended[event.permission.key] = pair.now;
      pair.b.placer().close_link(link);
    }
    pair.now += 3ms;
  }
  CHECK(granted > 500);
}

TEST_CASE("no key of either kind permits writes again within a second, not even before its check") {
  Mixed pair;
  pair.card->shares_keys = true;
  std::size_t granted = 0;
  for (int round = 0; round < 20; ++round) {
    // Closing the link frees its windows.
    const LinkId link = pair.b.placer().open_link(pair.a.datapath->local_address(), {}).value();
    for (int i = 0; i < round; ++i) {
      const PermissionId window = pair.b.placer().permit(link, pair.b.piece(0, 4));
      granted += pair.events().front().kind == Kind::kGranted ? 1 : 0;
      if (i + 1 < round) pair.b.placer().revoke(window);
      pair.events();
    }
    const PermissionId region = pair.b.placer().permit(pair.b.link, pair.on_gpu(0, 4));
    granted += pair.events().front().kind == Kind::kGranted ? 1 : 0;
    pair.b.placer().revoke(region);
    pair.events();
    pair.b.placer().close_link(link);
  }
  CHECK(granted > 20);
  CHECK(pair.card->writable.size() >= granted);
  for (const auto& [key, times] : pair.card->writable)
    CHECK(times == 1);
}

TEST_CASE("the end of the registration of a dma-buf ends the regions that park its keys") {
  Mixed pair;
  pair.card->reuses_keys = true;
  for (int round = 0; round < 3; ++round) {
    PermissionId id{};
    pair.permit(pair.on_gpu(0, 4), &id);
    pair.b.placer().revoke(id);
    CHECK(pair.revoked() == std::vector{id});
  }
  CHECK(pair.regions() > 0);
  pair.b.datapath->release_memory(pair.buffer.bytes());
  CHECK(pair.card->regions.size() == pair.regions_before - 1);
  REQUIRE(pair.b.placer().register_gpu_memory(pair.buffer.as_dma_buf()).ok());
  pair.permit(pair.on_gpu(0, 4));  // with another key, though the old ones are free again
  for (const auto& [key, times] : pair.card->writable)
    CHECK(times == 1);
}

TEST_CASE("an ability names the GPU memory that the device can use") {
  PlacementAbility ability;
  ability.gpu = {true, true};
  CHECK_FALSE(ability.places_in_gpus().peer_memory);
  ability.transport = PlacementTransport::kUc;
  ability.permissions = PermissionKind::kWindow;
  CHECK(ability.places_in_gpus().dma_buf);
  CHECK(ability.uses_regions());
  CHECK(to_string(ability) ==
        "UC, permissions by memory windows, in a dma-buf by regions, drivers for GPU memory by "
        "dma-buf and nvidia-peermem");
  ability.gpu.dma_buf = false;
  CHECK_FALSE(ability.uses_regions());
  CHECK(ability.places_in_gpus().peer_memory);
  ability.permissions = PermissionKind::kRegion;
  CHECK(ability.uses_regions());
}

}  // namespace
}  // namespace dlcp::datapath::test
