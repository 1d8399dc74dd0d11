// The arithmetic of the budget, at its exact boundaries.
#include "core/bounded_loss/loss_ledger.h"

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using core::Licence;
using core::LossLedger;
using gradient::ElementType;

namespace {

// P = 1%, a ring of four hosts, a result of 1 MiB on this channel.
Licence licence(std::uint64_t collective, std::uint32_t stage) {
  return {collective, std::uint64_t{1} << 20, 4, 4, stage, 10'000, ElementType::kFloat32};
}

constexpr std::uint64_t kMessage = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("a receiving rank may lose P x bytes x ranks / hops contributions", "[ledger]") {
  CHECK(LossLedger::budget(licence(1, 0), kMessage) == 10'485);  // 1% of 1 MiB, as ranks = hops
  Licence two_hosts = licence(1, 0);
  two_hosts.ranks = 16;
  two_hosts.hops = 2;
  CHECK(LossLedger::budget(two_hosts, kMessage) == 83'886);
  Licence huge = licence(1, 0);
  huge.result_bytes = std::uint64_t{1} << 40;
  huge.ranks = huge.hops = 4096;
  CHECK(LossLedger::budget(huge, kMessage) == (std::uint64_t{1} << 40) / 100);
}

TEST_CASE("the pool can be spent to the last byte, and not beyond", "[ledger]") {
  LossLedger ledger;
  ledger.open(licence(1, 0), kMessage);
  CHECK_FALSE(ledger.reserve(licence(1, 0), 10'486, kMessage));
  CHECK(ledger.reserve(licence(1, 0), 10'000, kMessage));
  CHECK_FALSE(ledger.reserve(licence(1, 0), 486, kMessage));
  CHECK(ledger.reserve(licence(1, 0), 485, kMessage));
  CHECK_FALSE(ledger.reserve(licence(1, 0), 1, kMessage));
}

TEST_CASE("a byte of a later stage costs as many contributions as it holds", "[ledger]") {
  LossLedger ledger;
  ledger.open(licence(1, 2), kMessage);
  CHECK_FALSE(ledger.reserve(licence(1, 2), 3496, kMessage));
  CHECK(ledger.reserve(licence(1, 2), 3495, kMessage));
  CHECK_FALSE(ledger.reserve(licence(1, 0), 1, kMessage));
}

TEST_CASE("no message may lose more than a quarter of itself", "[ledger]") {
  LossLedger ledger;
  ledger.open(licence(1, 0), kMessage);
  CHECK_FALSE(ledger.reserve(licence(1, 0), 1025, 4096));
  CHECK(ledger.reserve(licence(1, 0), 1024, 4096));
}

TEST_CASE("a collective has one pool, opened once, however late its messages are", "[ledger]") {
  LossLedger ledger;
  ledger.open(licence(5, 0), kMessage);
  CHECK(ledger.reserve(licence(5, 0), 10'485, kMessage));
  ledger.open(licence(6, 0), kMessage);
  ledger.open(licence(5, 1), kMessage);  // its number again: no new budget
  CHECK_FALSE(ledger.reserve(licence(5, 0), 1, kMessage));
  CHECK(ledger.reserve(licence(6, 0), 10'485, kMessage));
  ledger.open(licence(4, 0), kMessage);  // a collective that was skipped is refused later
  CHECK_FALSE(ledger.reserve(licence(4, 0), 1, kMessage));
}

TEST_CASE("messages that disagree about their collective lose nothing", "[ledger]") {
  LossLedger ledger;
  ledger.open(licence(1, 0), kMessage);
  for (int field = 0; field < 4; ++field) {
    Licence other = licence(1, 1);
    if (field == 0) other.result_bytes *= 2;
    if (field == 1) other.ranks = 8;
    if (field == 2) other.hops = 2;
    if (field == 3) other.budget_ppm = 20'000;
    CHECK_FALSE(ledger.reserve(other, 1, kMessage));
  }
  CHECK(ledger.reserve(licence(1, 1), 1, kMessage));
}

TEST_CASE("where the result size is unknown, the received message's size determines the budget",
          "[ledger]") {
  LossLedger ledger;
  Licence alone = licence(1, 2);
  alone.result_bytes = 0;
  CHECK(alone.covers(kMessage, 65'536));
  CHECK(alone.hop_share() == licence(1, 2).hop_share() / 2);
  ledger.open(alone, 4 * kMessage);                    // a receive buffer larger than the message
  CHECK_FALSE(ledger.reserve(alone, 3496, kMessage));  // counted as a message of 1 MiB
  CHECK_FALSE(ledger.reserve(alone, 1748, kMessage / 2));
  CHECK(ledger.reserve(alone, 1747, kMessage / 2));
  CHECK_FALSE(ledger.reserve(alone, 1749, kMessage));
  CHECK(ledger.reserve(alone, 1748, kMessage));
  CHECK_FALSE(ledger.reserve(alone, 1, kMessage));
}

TEST_CASE("after thousands of collectives, old ones are forgotten and grant nothing", "[ledger]") {
  LossLedger ledger;
  for (std::uint64_t collective = 1; collective <= 10'000; ++collective)
    ledger.open(licence(collective, 0), kMessage);
  CHECK_FALSE(ledger.reserve(licence(1, 0), 1, kMessage));
  CHECK(ledger.reserve(licence(10'000, 0), 1, kMessage));
}

TEST_CASE("all ranks of a ring together never lose more than P of the result", "[ledger]") {
  Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    const auto ranks = static_cast<std::uint32_t>(2 + rng.below(63));
    const auto hops = static_cast<std::uint32_t>(1 + rng.below(ranks));
    const auto ppm = static_cast<std::uint32_t>(1 + rng.below(core::kBudgetPpmMax));
    const std::uint64_t result = 1 + rng.below(std::uint64_t{1} << 30);
    std::uint64_t lost = 0;  // contributions
    for (std::uint32_t hop = 0; hop < hops; ++hop) {
      LossLedger ledger;
      for (int i = 0; i < 200; ++i) {
        const Licence message{1,
                              result,
                              ranks,
                              hops,
                              static_cast<std::uint32_t>(rng.below(ranks - 1)),
                              ppm,
                              ElementType::kFloat32};
        ledger.open(message, kMessage);
        const std::uint64_t bytes = rng.below(result / 16 + 2);
        if (ledger.reserve(message, bytes, 4 * bytes)) lost += bytes * (message.stage + 1);
      }
    }
    REQUIRE(static_cast<double>(lost) <=
            static_cast<double>(ppm) / core::kBudgetScale * static_cast<double>(result) * ranks);
  }
}

TEST_CASE("a licence covers partial sums of whole floating-point elements, long enough",
          "[ledger]") {
  constexpr std::size_t kMin = 65'536;
  CHECK(licence(1, 0).covers(kMin, kMin));
  CHECK_FALSE(licence(1, 0).covers(kMin - 4, kMin));
  CHECK_FALSE(licence(1, 0).covers(kMin + 2, kMin));
  CHECK(licence(1, 2).covers(kMin, kMin));
  CHECK_FALSE(licence(1, 3).covers(kMin, kMin));  // all-gather
  CHECK_FALSE(licence(0, 0).covers(kMin, kMin));
  for (int field = 0; field < 4; ++field) {
    Licence none = licence(1, 0);
    if (field == 0) none.budget_ppm = 0;
    if (field == 1) none.budget_ppm = core::kBudgetPpmMax + 1;
    if (field == 2) none.element = ElementType::kOther;
    if (field == 3) none.hops = 0;
    CHECK_FALSE(none.covers(kMin, kMin));
  }
}

TEST_CASE("a budget below one packet has the effect of no licence", "[ledger]") {
  Licence one = licence(1, 0);  // with a pool per collective
  one.budget_ppm = 10'000;
  const double most = one.hop_share() * static_cast<double>(one.result_bytes);
  CHECK(one.bears_a_packet(1, static_cast<std::size_t>(most)));
  CHECK_FALSE(one.bears_a_packet(1, static_cast<std::size_t>(most) + 1));
  one.result_bytes = 0;  // with a budget per message
  const double share = one.hop_share();
  CHECK(one.bears_a_packet(1 << 20, static_cast<std::size_t>(share * (1 << 20))));
  CHECK_FALSE(one.bears_a_packet(1 << 18, static_cast<std::size_t>(share * (1 << 20))));
}

// ---- direct exchange ----

namespace {

Licence direct_licence(SharedBudget* pool) {
  Licence licence{1, std::uint64_t{1} << 20, 4, 4, 0, 10'000, ElementType::kFloat32};
  licence.shape = core::LossShape::kDirect;
  licence.pool = pool;
  return licence;
}

}  // namespace

TEST_CASE("in direct exchange all connections of an owner spend one pool to the last byte",
          "[ledger]") {
  SharedBudget pool;
  LossLedger one, other;
  const Licence licence = direct_licence(&pool);
  one.open(licence, kMessage);
  other.open(licence, kMessage);
  CHECK_FALSE(one.reserve(licence, 1, kMessage));  // nothing granted yet
  pool.grant(1000);
  CHECK(one.reserve(licence, 600, kMessage));
  CHECK_FALSE(other.reserve(licence, 401, kMessage));
  CHECK(other.reserve(licence, 400, kMessage));
  CHECK_FALSE(one.reserve(licence, 1, kMessage));
  pool.grant(1);  // the next call on the tensor
  CHECK(one.reserve(licence, 1, kMessage));
  CHECK(pool.spent() == pool.granted());
}

TEST_CASE(
    "in direct exchange a contribution loses a quarter of itself at most, and nothing without a "
    "pool",
    "[ledger]") {
  SharedBudget pool;
  pool.grant(1'000'000);
  LossLedger ledger;
  ledger.open(direct_licence(&pool), kMessage);
  CHECK_FALSE(ledger.reserve(direct_licence(&pool), 1025, 4096));
  CHECK(ledger.reserve(direct_licence(&pool), 1024, 4096));
  CHECK_FALSE(ledger.reserve(direct_licence(nullptr), 1, 4096));
  CHECK(pool.spent() == 1024);
}

TEST_CASE("a direct connection may lose P x ranks / (ranks - 1), if the call is long enough",
          "[ledger]") {
  Licence licence = direct_licence(nullptr);
  CHECK(licence.hop_share() == Approx(0.01 * 4 / 3));
  licence.ranks = licence.hops = 64;
  CHECK(licence.hop_share() == Approx(0.01 * 64 / 63));
  CHECK(licence.covers(128, 1 << 20));
  CHECK_FALSE(licence.covers(0, 1 << 20));
  CHECK_FALSE(licence.covers(130, 1 << 20));
  CHECK_FALSE(licence.covers(1 << 20, (1 << 20) + 1));
}
