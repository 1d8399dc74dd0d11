#include "catch.h"
#include "cli/bench/report.h"
#include "cli/data/reduce_data.h"
#include "cli/driver/reduce.h"

using namespace dlcp::cli;

TEST_CASE("runs of zeros are counted wherever they begin, and shorter ones are data") {
  std::vector<float> arrived(1000, 1.0f);
  CHECK(count_lost(arrived.data(), arrived.size()) == 0);
  const auto zero = [&](std::size_t from, std::size_t count) {
    std::fill_n(arrived.begin() + static_cast<std::ptrdiff_t>(from), count, 0.0f);
  };
  zero(3, 31);
  CHECK(count_lost(arrived.data(), arrived.size()) == 0);
  zero(100, 32);
  CHECK(count_lost(arrived.data(), arrived.size()) == 32);
  zero(200, 352);
  CHECK(count_lost(arrived.data(), arrived.size()) == 384);
  zero(1000 - 40, 40);  // to the last element
  CHECK(count_lost(arrived.data(), arrived.size()) == 424);
  zero(0, 1000);
  CHECK(count_lost(arrived.data(), arrived.size()) == 1000);
  CHECK(count_lost(arrived.data(), 0) == 0);
}

TEST_CASE(
    "the losses of one all-reduce are summed over its ranks and compared with all contributions") {
  // Two ranks, 1000 elements: 2000 contributions. The second all-reduce loses 30 + 10 of them.
  const std::vector<ReduceLoss> first = {{0, 0, 7, 0, 100}, {30, 50, 8, 4, 100}};
  const std::vector<ReduceLoss> second = {{0, 0, 7, 0, 100}, {10, 50, 8, 4, 100}};
  const LossReport report = make_loss_report({first, second}, 1000);
  CHECK(report.reduces == 2);
  CHECK(report.lossy_reduces == 1);
  CHECK(report.delivered_share_min == Approx(1 - 40.0 / 2000));
  CHECK(report.delivered_share == Approx(1 - 20.0 / 2000));
  CHECK(report.relative_mse == Approx(8.0 / 400));
  CHECK(report.ranks_identical);
  CHECK(report.wrong_elements == 0);
}

TEST_CASE(
    "a differing result without missing contributions is wrong, and so is a loss of a rank's own") {
  const LossReport wrong = make_loss_report({{{0, 3, 7, 1, 100}}, {{0, 3, 7, 1, 100}}}, 1000);
  CHECK(wrong.wrong_elements == 6);
  const LossReport torn = make_loss_report({{{5, 3, 7, 1, 100}}, {{0, 3, 9, 1, 100}}}, 1000);
  CHECK_FALSE(torn.ranks_identical);
}

TEST_CASE("blocks differ in scale by powers of two, the same on every rank") {
  bool seen[8] = {};
  for (std::size_t block = 0; block < 200; ++block) {
    const unsigned at = loss_halvings(1, block * kLossBlock);
    CHECK(at == loss_halvings(1, block * kLossBlock + kLossBlock - 1));
    REQUIRE(at < 8);
    seen[at] = true;
  }
  for (const bool one : seen)
    CHECK(one);
}
