#include "core/placement/recv_placing.h"

#include <vector>

#include "catch.h"
#include "core/placement/link_table.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {

// Grants what the test grants.
struct QuietCard final : Card {
  PermissionId last = 0;
  std::vector<PermissionId> revoked;

  LinkId open_link(const wire::EndpointAddress&) override { return 1; }
  void close_link(LinkId) override {}
  void widen(LinkId, TrafficClass, std::size_t) override {}
  std::size_t paths(LinkId, TrafficClass) const override { return 4; }
  std::vector<std::byte> introduction(LinkId) const override { return {}; }
  std::uint32_t introduction_version(LinkId) const override { return 1; }
  bool connect(LinkId, std::span<const std::byte>) override { return true; }
  Limits limits(LinkId) const override { return {4096, 448}; }
  PermissionId permit(LinkId, std::span<std::byte>) override { return ++last; }
  void revoke(PermissionId id) override { revoked.push_back(id); }
  bool can_place_from(std::span<const std::byte>) override { return true; }
};

struct Receiver {
  QuietCard card;
  LinkTable links;
  RecvPlacing placing{card, links, 7};
  Receiver() { placing.on_link({}, {}); }
};

}  // namespace

TEST_CASE(
    "an ACK names the newest placed packets of 32 paths, and the next ACK those of the rest") {
  Receiver receiver;
  for (wire::PathIndex path = 0; path < 80; ++path)
    receiver.placing.note({.path = path, .name = path, .packets = 1, .arrived_at = {}});
  std::vector<std::size_t> counts;
  bool all = false;
  while (!all) {
    wire::Ack ack;
    all = receiver.placing.report({}, ack);
    counts.push_back(ack.placed.size());
  }
  CHECK(counts == std::vector<std::size_t>{32, 32, 16});
}
