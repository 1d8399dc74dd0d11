#include "core/flow_control/credit_pool.h"

#include <span>
#include <vector>

#include "catch.h"

using namespace dlcp;
using namespace dlcp::core;

namespace {
constexpr Time t0 = time_from_ns(1'000'000'000);
constexpr std::uint32_t kPacket = 1024;
constexpr std::size_t kMessage = 32 * kPacket;

// Bytes that the senders may still have in flight.
std::size_t committed_bytes(std::span<const Grant> grants) {
  std::size_t bytes = 0;
  for (const Grant& grant : grants)
    bytes += std::size_t{grant.committed} * grant.packet_bytes;
  return bytes;
}
}  // namespace

namespace {

// `count` senders whose messages began in order.
struct Senders {
  explicit Senders(std::size_t count) : grants(count) {
    for (Grant& grant : grants) {
      pool.join(grant, kPacket);
      on_data(t0, grant);
    }
  }
  void on_data(Time now, Grant& grant) { pool.on_data(now, grant, grant.epoch, kMessage); }
  std::vector<bool> served() {
    std::vector<bool> are;
    for (const Grant& grant : grants)
      are.push_back(pool.is_served(grant));
    return are;
  }

  CreditPool pool{1000 * kPacket, 64 << 10};
  std::vector<Grant> grants;
};

}  // namespace

TEST_CASE("every sender is served unless there are more than are served at once") {
  Senders few(CreditPool::kServed);
  CHECK(few.served() == std::vector<bool>{true, true, true, true});
  Senders many(CreditPool::kServed + 2);
  CHECK(many.served() == std::vector<bool>{true, true, true, true, false, false});
}

TEST_CASE("a sender whose message ends leaves its place to the next, and queues again at the end") {
  Senders senders(6);
  senders.pool.on_message_end(senders.grants[1]);
  CHECK_FALSE(senders.pool.is_served(senders.grants[1]));
  CHECK(senders.pool.is_served(senders.grants[4]));
  CHECK_FALSE(senders.pool.is_served(senders.grants[5]));
  senders.on_data(t0, senders.grants[1]);
  senders.pool.on_message_end(senders.grants[0]);
  CHECK(senders.served() == std::vector<bool>{false, false, true, true, true, true});
  senders.pool.on_message_end(senders.grants[0]);  // ending twice has no effect
  CHECK(senders.served() == std::vector<bool>{false, false, true, true, true, true});
}

TEST_CASE("a silent sender is skipped and keeps its place") {
  Senders senders(7);
  const Time later = t0 + CreditPool::kSilent + 1ns;
  for (std::size_t i = 2; i < 7; ++i)
    senders.on_data(later, senders.grants[i]);
  CHECK(senders.pool.is_served(senders.grants[5]));  // replaces one of the two silent senders
  CHECK_FALSE(senders.pool.is_served(senders.grants[6]));
  senders.on_data(later, senders.grants[0]);
  CHECK_FALSE(senders.pool.is_served(senders.grants[5]));
  CHECK(senders.pool.is_served(senders.grants[1]));
}

TEST_CASE("a single active connection gets nearly all of the capacity") {
  CreditPool pool(1024 * kPacket, 64 << 10);
  Grant grant;
  pool.join(grant, kPacket);
  CHECK(grant.window == grant.reserve);
  pool.on_data(t0, grant, 0, kMessage);
  pool.refresh(grant);
  CHECK(grant.window > 900);
  CHECK(committed_bytes({&grant, 1}) <= 1024 * kPacket);
}

TEST_CASE("grants together never exceed the capacity while connections open, send and close") {
  constexpr std::size_t kCapacity = 1000 * kPacket;
  CreditPool pool(kCapacity, 64 << 10);
  std::vector<Grant> grants(20);
  for (auto& grant : grants)
    pool.join(grant, kPacket);
  for (int round = 0; round < 50; ++round) {
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if ((i + static_cast<std::size_t>(round)) % 3 == 0) {
        // Half of the senders have not received their newest window yet.
        const auto heard =
            static_cast<std::uint8_t>(i % 2 == 0 ? grants[i].epoch : grants[i].epoch - 1);
        pool.on_data(t0, grants[i], heard, kMessage);
        pool.refresh(grants[i]);
      } else if (round % 7 == 0) {
        pool.reclaim(grants[i]);
      }
      REQUIRE(committed_bytes(grants) <= kCapacity);
    }
  }
  for (auto& grant : grants)
    pool.leave(grant);
  Grant last;  // gets what the others have returned
  pool.join(last, kPacket);
  pool.on_data(t0, last, 0, kMessage);
  pool.refresh(last);
  CHECK(last.window > 900);
}

TEST_CASE(
    "with many connections, none begins with a single packet if the capacity holds their "
    "reserves") {
  constexpr std::size_t kCapacity = std::size_t{6} << 20;
  CreditPool pool(kCapacity, 64 << 10);
  std::vector<Grant> grants(144);
  for (auto& grant : grants)
    pool.join(grant, 4096);
  CHECK(grants.front().reserve == 16);  // the limit
  CHECK(grants.back().reserve == 2);
  CHECK(committed_bytes(grants) <= kCapacity);
}

TEST_CASE("a reduced window counts in full until a packet shows that the sender applies it") {
  CreditPool pool(1000 * kPacket, 64 << 10);
  Grant first;
  Grant second;
  pool.join(first, kPacket);
  pool.join(second, kPacket);
  pool.on_data(t0, first, 0, kMessage);
  pool.refresh(first);
  pool.on_data(t0, first, first.epoch, kMessage);
  const auto large = first.committed;
  pool.on_data(t0, second, 0, kMessage);
  pool.refresh(first);
  CHECK(first.window < large);
  CHECK(first.committed == large);
  pool.on_data(t0, first, first.epoch, kMessage);
  CHECK(first.committed == first.window);
}

TEST_CASE("every connection keeps one packet even when there are more connections than capacity") {
  CreditPool pool(10 * kPacket, 64 << 10);
  std::vector<Grant> grants(100);
  for (auto& grant : grants) {
    pool.join(grant, kPacket);
    CHECK(grant.window >= 1);
  }
}

TEST_CASE("an idle connection returns its share after the reclaim time") {
  CreditPool pool(1000 * kPacket, 64 << 10);
  Grant grant;
  pool.join(grant, kPacket);
  CHECK(CreditPool::reclaim_at(grant) == kNever);
  pool.on_data(t0, grant, 0, kMessage);
  pool.refresh(grant);
  CHECK(CreditPool::reclaim_at(grant) == t0 + kWindowReclaim);
  pool.reclaim(grant);
  CHECK(grant.window == grant.reserve);
}

TEST_CASE("a sender that waits for its turn is granted a few packets and keeps its reserve") {
  CreditPool pool(1000 * kPacket, 64 << 10);
  std::vector<Grant> grants(6);
  for (auto& grant : grants) {
    pool.join(grant, kPacket);
    pool.on_data(t0, grant, grant.epoch, kMessage);
  }
  const std::size_t committed = committed_bytes(grants);
  for (auto& grant : grants)
    pool.refresh(grant);
  CHECK(grants[3].window >= grants[3].reserve);
  CHECK(grants[4].window == 4);
  CHECK(grants[4].committed == grants[4].reserve);
  pool.on_data(t0, grants[4], grants[4].epoch, kMessage);
  CHECK(grants[4].committed == grants[4].reserve);
  CHECK(committed_bytes(grants) > committed);
  pool.on_message_end(grants[0]);
  pool.refresh(grants[4]);
  CHECK(grants[4].window > grants[4].reserve);
  CHECK(committed_bytes(grants) <= 1000 * kPacket);
}

TEST_CASE("with many senders, a finished message's grant falls to the reserve, soon enforced") {
  constexpr std::size_t kCapacity = 4000 * kPacket;
  CreditPool pool(kCapacity, 64 << 10);
  std::vector<Grant> grants(40);
  for (auto& grant : grants)
    pool.join(grant, kPacket);
  for (std::size_t i = 0; i < 2; ++i)
    pool.on_data(t0, grants[i], grants[i].epoch, kMessage);
  for (std::size_t i = 0; i < 2; ++i)
    pool.refresh(grants[i]);
  // The next sender finds room for a share.
  pool.on_data(t0, grants[2], grants[2].epoch, kMessage);
  pool.refresh(grants[2]);
  CHECK(grants[2].window > 5 * grants[2].reserve);
  pool.on_message_end(grants[0]);
  pool.refresh(grants[0]);
  CHECK(grants[0].window == grants[0].reserve);
  CHECK(grants[0].committed > grants[0].window);
  CHECK(CreditPool::reclaim_at(grants[0]) == t0 + kWindowSettled);
  CHECK(CreditPool::reclaim_at(grants[1]) == t0 + kWindowReclaim);
  pool.reclaim(grants[0]);
  CHECK(grants[0].committed == grants[0].reserve);
  CHECK_FALSE(grants[0].active);
}

TEST_CASE(
    "a sender that waits for its turn has one packet of a long message in flight, four of a short "
    "one") {
  for (const std::size_t packets : {16, 63, 64, 1000}) {
    CreditPool pool(4000 * kPacket, 64 << 10);
    std::vector<Grant> grants(8);
    for (auto& grant : grants) {
      pool.join(grant, kPacket);
      pool.on_data(t0, grant, grant.epoch, packets * kPacket);
      pool.refresh(grant);
    }
    CHECK(grants[3].window >= grants[3].reserve);
    CHECK(grants[7].window == (packets < 64 ? 4 : 1));
    CHECK(grants[7].committed >= grants[7].reserve);  // the reserve stays committed
  }
}
