#include "collective/calls/transfer_queues.h"

#include <set>
#include <vector>

#include "catch.h"

using namespace dlcp::collective;

namespace {

// Accepts what it may, and records the blocks and their order.
struct Taking final : Mesh {
  bool post(const Transfer& transfer) override {
    if (full.contains(transfer.peer)) return false;
    if (transfer.sends && sends == 0) return false;
    sends -= transfer.sends;
    taken.push_back(transfer.block);
    return true;
  }
  std::set<std::uint32_t> full;  // peers
  int sends = 100;               // accepted in total
  std::vector<std::uint32_t> taken;
};

Transfer sent(std::uint32_t peer, std::uint32_t block) {
  Transfer made;
  made.peer = peer;
  made.block = block;
  made.sends = true;
  return made;
}

}  // namespace

TEST_CASE("transfers are posted in the order in which they were queued, whatever the peer") {
  TransferQueues queues(3);
  for (std::uint32_t block = 0; block < 6; ++block)
    queues.add(sent(block % 3, block));
  Taking mesh;
  for (mesh.sends = 1; !queues.empty(); mesh.sends = 1)
    queues.post_to(mesh, [](const Transfer&) {});
  CHECK(mesh.taken == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a peer that accepts nothing delays only its own transfers") {
  TransferQueues queues(3);
  for (std::uint32_t block = 0; block < 6; ++block)
    queues.add(sent(block % 3, block));
  Taking mesh;
  mesh.full = {1};
  std::size_t told = 0;
  queues.post_to(mesh, [&](const Transfer&) { ++told; });
  CHECK(mesh.taken == std::vector<std::uint32_t>{0, 2, 3, 5});
  CHECK(told == 4);
  CHECK_FALSE(queues.empty());
  mesh.full.clear();
  queues.post_to(mesh, [](const Transfer&) {});
  CHECK(mesh.taken == std::vector<std::uint32_t>{0, 2, 3, 5, 1, 4});
  CHECK(queues.empty());
}
