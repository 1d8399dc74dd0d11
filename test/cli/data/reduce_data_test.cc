#include "cli/data/reduce_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "catch.h"
#include "cli/launch/bench_error.h"
#include "collective/reduce/reduce.h"

using namespace dlcp::cli;
using dlcp::collective::DataType;
using dlcp::collective::ReduceOp;
using Values = ReduceData::Values;

namespace {

constexpr std::size_t kCount = 5000;  // more than one piece of the generator

// All ranks' inputs, combined two at a time in the given order.
std::vector<std::byte> reduce_in_order(const Reduction& reduction, Values values,
                                       const std::vector<int>& order) {
  const std::size_t bytes = kCount * reduction.element_bytes();
  const ReduceData data(reduction, values, 1, static_cast<int>(order.size()));
  std::vector<std::byte> sum(bytes), next(bytes);
  data.fill(order[0], 3, 0, kCount, sum.data());
  for (std::size_t i = 1; i < order.size(); i++) {
    data.fill(order[i], 3, 0, kCount, next.data());
    const auto before = sum;
    combine(reduction, sum.data(), nullptr, before.data(), next.data(), bytes);
  }
  return sum;
}

ReduceLoss check(const Reduction& reduction, Values values, const std::vector<std::byte>& result,
                 int ranks) {
  return ReduceData(reduction, values, 1, ranks).check(3, result.data(), kCount);
}

std::vector<int> ranks_from(int first, int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + first, order.end());
  return order;
}

}  // namespace

TEST_CASE("values for a ring give the same bits in any order, for all types and operations") {
  for (std::size_t type = 0; type < dlcp::collective::kDataTypes; type++) {
    for (std::size_t op = 0; op < dlcp::collective::kReduceOps; op++) {
      const Reduction reduction{static_cast<DataType>(type), static_cast<ReduceOp>(op)};
      for (const int first : {0, 3, 7}) {
        const auto result = reduce_in_order(reduction, Values::kExactAlways, ranks_from(first, 8));
        INFO(name_of(reduction.type) << " " << name_of(reduction.op) << " from rank " << first);
        REQUIRE(check(reduction, Values::kExactAlways, result, 8).unequal == 0);
      }
    }
  }
}

TEST_CASE("values for a group show whether the ranks' order was kept") {
  const Reduction floats;
  const auto right = reduce_in_order(floats, Values::kAny, ranks_from(0, 8));
  CHECK(check(floats, Values::kAny, right, 8).unequal == 0);
  const auto wrong = reduce_in_order(floats, Values::kAny, ranks_from(3, 8));
  const ReduceLoss seen = check(floats, Values::kAny, wrong, 8);
  CHECK(seen.unequal > kCount / 4);
  CHECK(seen.squared_error > 0);
  CHECK(seen.squared_error < seen.squared_exact * 1e-12);
}

TEST_CASE("one wrong element is counted once, with its error") {
  const Reduction floats;
  auto result = reduce_in_order(floats, Values::kExactAlways, ranks_from(0, 4));
  const std::uint64_t hash = check(floats, Values::kExactAlways, result, 4).hash;
  float* element = reinterpret_cast<float*>(result.data()) + 4321;
  *element += 2;
  const ReduceLoss seen = check(floats, Values::kExactAlways, result, 4);
  CHECK(seen.unequal == 1);
  CHECK(seen.squared_error == 4);
  CHECK(seen.hash != hash);
}

TEST_CASE("a later round's data are others, so that yesterday's result is wrong") {
  const Reduction bytes{DataType::kUint8, ReduceOp::kSum};
  const auto result = reduce_in_order(bytes, Values::kAny, ranks_from(0, 3));
  CHECK(ReduceData(bytes, Values::kAny, 1, 3).check(4, result.data(), kCount).unequal > kCount / 2);
}

TEST_CASE("a part of a rank's input is the same whichever way it is cut out") {
  const auto part = [](std::size_t first, std::size_t count) {
    std::vector<std::byte> bytes(count * sizeof(float));
    ReduceData({}, Values::kExactAlways, 7, 4).fill(3, 2, first, count, bytes.data());
    return bytes;
  };
  const auto whole = part(0, 100);
  for (const std::size_t first : {0u, 1u, 7u, 8u, 50u}) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first * sizeof(float));
    CHECK(part(first, 33) == std::vector<std::byte>(begin, begin + 33 * sizeof(float)));
  }
  CHECK(part(5, 0).empty());
}

TEST_CASE("inputs differ by rank and by seed, and what is one rank's is not another's") {
  std::set<std::vector<std::byte>> seen;
  for (const auto& [seed, rank] : {std::pair{7, 3}, {7, 2}, {8, 3}}) {
    ReduceData data({}, Values::kExactAlways, static_cast<std::uint64_t>(seed), 4);
    std::vector<std::byte> bytes(100 * sizeof(float));
    data.fill(rank, 0, 0, 100, bytes.data());
    CHECK(data.count_wrong(0, 0, 100, bytes.data(), rank) == 0);
    CHECK(data.count_wrong(0, 0, 100, bytes.data(), 1) > 50);
    CHECK(data.count_wrong(0, 0, 100, bytes.data()) > 50);
    seen.insert(bytes);
  }
  CHECK(seen.size() == 3);
}

TEST_CASE("sums of gradients that were computed in bf16 are exact in any order") {
  constexpr int kRanks = ReduceData::kAmpRanksMax;
  ReduceData data({}, Values::kExactAlways, 5, kRanks, ReduceData::Magnitudes::kAlike,
                  dlcp::cli::Data::kAmp);
  std::vector<float> forward(kCount), backward(kCount), input(kCount);
  const auto add = [&](int rank, std::vector<float>& sum) {
    data.fill(rank, 2, 0, kCount, reinterpret_cast<std::byte*>(input.data()));
    for (std::size_t i = 0; i < kCount; i++) {
      CHECK((std::bit_cast<std::uint32_t>(input[i]) & 0xffff) == 0);
      sum[i] += input[i];
    }
  };
  for (int rank = 0; rank < kRanks; rank++) {
    add(rank, forward);
    add(kRanks - 1 - rank, backward);
  }
  CHECK(forward == backward);
  CHECK(data.count_wrong(2, 0, kCount, reinterpret_cast<const std::byte*>(forward.data())) == 0);
}

TEST_CASE("more ranks than a 16-bit type can sum exactly are refused for a ring") {
  const Reduction bfloat{DataType::kBfloat16, ReduceOp::kSum};
  CHECK_NOTHROW(ReduceData(bfloat, Values::kExactAlways, 1, 256));
  CHECK_THROWS_AS(ReduceData(bfloat, Values::kExactAlways, 1, 257), BenchError);
  CHECK_NOTHROW(ReduceData(bfloat, Values::kAny, 1, 257));
}

TEST_CASE("sums that lack contributions are distinguished from wrong ones, cell by cell") {
  for (const DataType type : {DataType::kFloat32, DataType::kBfloat16}) {
    const Reduction reduction{type, ReduceOp::kSum};
    const std::size_t size = reduction.element_bytes();
    ReduceData data(reduction, Values::kAny, 1, 5);
    std::vector<std::vector<std::byte>> inputs(5, std::vector<std::byte>(kCount * size));
    std::vector<const std::byte*> pointers;
    for (int rank = 0; rank < 5; rank++) {
      auto& input = inputs[static_cast<std::size_t>(rank)];
      data.fill(rank, 3, 0, kCount, input.data());
      // Two cells of rank 1 are missing, and the second of them of rank 3 too.
      if (rank == 1) std::fill_n(input.begin() + 1024, 256, std::byte{0});
      if (rank == 3) std::fill_n(input.begin() + 1152, 128, std::byte{0});
      pointers.push_back(input.data());
    }
    std::vector<std::uint16_t> present((kCount * size + 127) / 128, 5);
    present[8] = 4;
    present[9] = 3;
    std::vector<std::byte> zero(kCount * size), rescaled(kCount * size);
    dlcp::collective::reduce(type, ReduceOp::kSum, pointers, zero.size(), zero.data());
    dlcp::collective::reduce_scaled(type, pointers, rescaled.size(), {present, 128},
                                    rescaled.data());
    for (auto* result : {&zero, &rescaled}) {
      auto loss = data.check(3, result->data(), kCount, ReduceData::May::kLack);
      CHECK(loss.lost == 3 * 128 / size);
      CHECK(loss.unequal > 0);
      CHECK(loss.unexplained == 0);
      (*result)[1100] ^= std::byte{1};
      loss = data.check(3, result->data(), kCount, ReduceData::May::kLack);
      CHECK(loss.lost == 2 * 128 / size);
      CHECK(loss.unexplained == 128 / size);
    }
  }
}

TEST_CASE(
    "magnitudes that depend on the position are the same for all ranks, and sums stay exact") {
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat32}) {
    const Reduction reduction{type, ReduceOp::kSum};
    const std::size_t size = reduction.element_bytes();
    constexpr std::size_t kMany = 8 * kLossBlock;
    const ReduceData alike(reduction, Values::kExactAlways, 1, 4);
    ReduceData placed(reduction, Values::kExactAlways, 1, 4, ReduceData::Magnitudes::kByPlace);
    std::vector<std::byte> sum(kMany * size);
    for (int rank = 0; rank < 4; rank++) {
      std::vector<std::byte> one(kMany * size), other(kMany * size);
      alike.fill(rank, 0, 0, kMany, one.data());
      placed.fill(rank, 0, 0, kMany, other.data());
      const auto before = sum;
      combine(reduction, sum.data(), nullptr, before.data(), other.data(), sum.size());
      for (std::size_t i = 0; type == DataType::kFloat32 && i < kMany; i++) {
        float plain = 0, halved = 0;
        std::memcpy(&plain, &one[i * size], size);
        std::memcpy(&halved, &other[i * size], size);
        REQUIRE(halved == std::ldexp(plain, -static_cast<int>(loss_halvings(1, i))));
      }
    }
    CHECK(placed.check(0, sum.data(), kMany).unequal == 0);
  }
}
