// Built with -O3: most of a checked all-reduce's time is spent here, outside the clock.
#include "cli/bench/reduce_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cli/bench/bench_case.h"
#include "cli/bench/missing_parts.h"
#include "cli/bench/payload.h"
#include "collective/float_format.h"
#include "collective/reduce.h"

namespace dlcp::cli {
namespace {

using collective::DataType;
using collective::ReduceOp;

constexpr std::size_t kPiece = 4096;  // elements made and compared at once

bool is_summed_float(const Reduction& reduction) {
  return collective::is_floating(reduction.type) && reduction.op == ReduceOp::kSum;
}

// Integers up to this are exact.
std::int64_t exact_integers(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return 1 << 11;
    case DataType::kBfloat16:
      return 1 << 8;
    default:
      return 1 << 24;
  }
}

std::uint64_t float_bits(DataType type, double value) {
  switch (type) {
    case DataType::kFloat16:
      return collective::Half::narrow(static_cast<float>(value));
    case DataType::kBfloat16:
      return collective::Bfloat::narrow(static_cast<float>(value));
    case DataType::kFloat32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    default:
      return std::bit_cast<std::uint64_t>(value);
  }
}

struct FloatFormat {
  int mantissa;
  std::uint64_t bias;
  std::uint64_t sign;
};

FloatFormat format_of(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return {10, 15, 1u << 15};
    case DataType::kBfloat16:
      return {7, 127, 1u << 15};
    case DataType::kFloat32:
      return {23, 127, 1u << 31};
    default:
      return {52, 1023, std::uint64_t{1} << 63};
  }
}

// Sign and mantissa at random, magnitudes around 1 that differ by up to 2^8.
std::uint64_t wild_float(DataType type, std::uint64_t bits) {
  const FloatFormat f = format_of(type);
  const std::uint64_t exponent = f.bias - 4 + (bits >> 56) % 9;
  return ((bits >> 55 & 1) != 0 ? f.sign : 0) | exponent << f.mantissa |
         (bits & ((std::uint64_t{1} << f.mantissa) - 1));
}

// Of a number around 1, or of 0.
std::uint64_t halved(DataType type, std::uint64_t bits, unsigned times) {
  const FloatFormat f = format_of(type);
  return (bits & ~f.sign) == 0 ? bits : bits - (std::uint64_t{times} << f.mantissa);
}

double value_of(DataType type, const std::byte* at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, collective::bytes_of(type));
  switch (type) {
    case DataType::kFloat16:
      return static_cast<double>(collective::Half::widen(static_cast<std::uint16_t>(bits)));
    case DataType::kBfloat16:
      return static_cast<double>(collective::Bfloat::widen(static_cast<std::uint16_t>(bits)));
    case DataType::kFloat32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DataType::kFloat64:
      return std::bit_cast<double>(bits);
    case DataType::kInt8:
      return static_cast<double>(static_cast<std::int8_t>(bits));
    case DataType::kInt32:
      return static_cast<double>(static_cast<std::int32_t>(bits));
    case DataType::kInt64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    default:
      return static_cast<double>(bits);
  }
}

std::uint64_t hashed(std::uint64_t hash, const std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof word, count - i));
    hash = (hash ^ word) * 0x100000001b3;  // FNV-1a, a word at a time
  }
  return hash;
}

}  // namespace

ReduceData::ReduceData(const Reduction& reduction, Values values, std::uint64_t seed, int ranks,
                       Magnitudes magnitudes)
    : reduction_(reduction),
      values_(values),
      by_place_(magnitudes == Magnitudes::kByPlace && is_summed_float(reduction)),
      seed_(seed),
      ranks_(ranks),
      amplitude_(std::min<std::int64_t>(exact_integers(reduction.type) / ranks, 127)) {
  if (values == Values::kExactAlways && is_summed_float(reduction) && amplitude_ == 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("--ranks {}: sums of so many 16-bit floats are not exact in every "
                                 "order, and a ring's order is its own; give --type f32",
                                 ranks));
}

std::uint64_t ReduceData::exact_word(int rank, std::size_t element, std::uint64_t bits) const {
  const DataType type = reduction_.type;
  if (!collective::is_floating(type)) return bits;  // they wrap around
  if (reduction_.op == ReduceOp::kSum) {
    const auto span = static_cast<std::uint64_t>(2 * amplitude_ + 1);
    const auto value = static_cast<std::int64_t>(bits % span) - amplitude_;
    return float_bits(type, static_cast<double>(value));
  }
  // All but one factor are 1 or -1.
  const auto wild = static_cast<int>(element % static_cast<std::size_t>(ranks_));
  if (reduction_.op == ReduceOp::kProd && rank != wild)
    return float_bits(type, (bits & 1) != 0 ? 1 : -1);
  return wild_float(type, bits);
}

std::uint64_t ReduceData::word(int rank, std::size_t element, std::uint64_t bits) const {
  const DataType type = reduction_.type;
  const std::uint64_t made = values_ == Values::kExactAlways ? exact_word(rank, element, bits)
                             : collective::is_floating(type) ? wild_float(type, bits)
                                                             : bits;
  return by_place_ ? halved(type, made, loss_halvings(seed_, element)) : made;
}

template <class Word>
void ReduceData::fill_words(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
                            std::byte* to) const {
  const std::uint64_t key = flow_key(seed_ + iteration, rank, rank, 0);
  for (std::size_t i = 0; i < count; i++) {
    const auto bits = static_cast<Word>(word(rank, first + i, mix64(key + first + i)));
    std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}

void ReduceData::fill(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
                      std::byte* to) const {
  switch (reduction_.element_bytes()) {
    case 1:
      return fill_words<std::uint8_t>(rank, iteration, first, count, to);
    case 2:
      return fill_words<std::uint16_t>(rank, iteration, first, count, to);
    case 4:
      return fill_words<std::uint32_t>(rank, iteration, first, count, to);
    default:
      return fill_words<std::uint64_t>(rank, iteration, first, count, to);
  }
}

// Cell by cell, what differs from the whole sum is the sum of some contributions, or wrong.
void ReduceData::explain(std::span<const std::byte* const> inputs, const std::byte* expected,
                         const std::byte* seen, std::size_t bytes, ReduceLoss& loss) const {
  std::vector<const std::byte*> cells(inputs.size());
  for (std::size_t at = 0; at < bytes; at += kLossCellBytes) {
    const std::size_t cell = std::min(kLossCellBytes, bytes - at);
    if (std::memcmp(seen + at, expected + at, cell) == 0) continue;
    std::ranges::transform(inputs, cells.begin(),
                           [&](const std::byte* input) { return input + at; });
    const std::size_t elements = cell / reduction_.element_bytes();
    if (const auto missing = missing_parts(reduction_, cells, cell, seen + at))
      loss.lost += *missing * elements;
    else
      loss.unexplained += elements;
  }
}

// Blocks have one exponent e, so that each of N contributions is wrong by N 2^e / 2^32, and the sum
// by N times that and its own rounding.
void ReduceData::find_beyond_rounding(std::span<const std::byte* const> inputs,
                                      const std::byte* seen, std::size_t count,
                                      ReduceLoss& loss) const {
  constexpr std::size_t kBlock = 256;
  const auto at = [](const std::byte* from, std::size_t i) {
    return value_of(DataType::kFloat32, from + i * sizeof(float));
  };
  const auto ranks = static_cast<double>(inputs.size());
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    double largest = 0;
    for (const std::byte* input : inputs)
      for (std::size_t i = begin; i < end; i++)
        largest = std::max(largest, std::abs(at(input, i)));
    int exponent = 0;
    (void)std::frexp(largest, &exponent);
    const double bound =
        std::ldexp(ranks * ranks / 2, exponent) / std::numeric_limits<std::int32_t>::max();
    for (std::size_t i = begin; i < end; i++) {
      double sum = 0;
      for (const std::byte* input : inputs)
        sum += at(input, i);
      // Written so that NaN is wrong.
      if (!(std::abs(at(seen, i) - sum) <= bound * (1 + 0x1p-20) + std::abs(sum) * 0x1p-24))
        loss.unexplained++;
    }
  }
}

ReduceLoss ReduceData::check(std::uint64_t iteration, const std::byte* result, std::size_t count,
                             May may) const {
  const std::size_t size = reduction_.element_bytes();
  const auto ranks = static_cast<std::size_t>(ranks_);
  std::vector<std::byte> inputs(ranks * kPiece * size), expected(kPiece * size);
  std::vector<const std::byte*> pointers(ranks);
  ReduceLoss loss;
  for (std::size_t first = 0; first < count; first += kPiece) {
    const std::size_t n = std::min(kPiece, count - first);
    for (std::size_t rank = 0; rank < ranks; rank++) {
      std::byte* input = inputs.data() + rank * kPiece * size;
      fill(static_cast<int>(rank), iteration, first, n, input);
      pointers[rank] = input;
    }
    collective::reduce_forms().front().reduce(reduction_.type, reduction_.op, pointers, n * size,
                                              nullptr, expected.data());
    const std::byte* seen = result + first * size;
    loss.hash = hashed(loss.hash, seen, n * size);
    const bool equal = std::memcmp(seen, expected.data(), n * size) == 0;
    if (may == May::kLack && !equal) explain(pointers, expected.data(), seen, n * size, loss);
    if (may == May::kRound) find_beyond_rounding(pointers, seen, n, loss);
    for (std::size_t i = 0; i < n * size; i += size) {
      const double exact = value_of(reduction_.type, &expected[i]);
      if (std::isfinite(exact)) loss.squared_exact += exact * exact;
      if (equal || std::memcmp(seen + i, &expected[i], size) == 0) continue;
      loss.unequal++;
      const double error = value_of(reduction_.type, seen + i) - exact;
      if (std::isfinite(error)) loss.squared_error += error * error;
    }
  }
  return loss;
}

}  // namespace dlcp::cli
