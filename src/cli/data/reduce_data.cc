// Built with -O3: a checked all-reduce spends most of its time here, while the clock is stopped.
#include "cli/data/reduce_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "cli/launch/bench_error.h"
#include "collective/reduce/float_format.h"
#include "collective/reduce/reduce.h"

namespace dlcp::cli {
namespace {

using collective::DataType;
using collective::ReduceOp;

constexpr std::size_t kPiece = 4096;  // elements that are made and compared at once
constexpr std::size_t kRounds = 61;   // after as many rounds the data repeat

// The place of a round's element `first` in the endless vector.
std::size_t place_of(std::uint64_t iteration, std::size_t first) {
  return static_cast<std::size_t>(iteration % kRounds) * kPiece + first;
}

std::size_t count_unequal(const std::byte* seen, const std::byte* expected, std::size_t bytes,
                          std::size_t element_bytes) {
  // With 0 bytes the pointers may be null, which memcmp does not permit.
  if (bytes == 0 || std::memcmp(seen, expected, bytes) == 0) return 0;
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < bytes; i += element_bytes)
    unequal += std::memcmp(seen + i, expected + i, element_bytes) != 0 ? 1 : 0;
  return unequal;
}

bool is_summed_float(const Reduction& reduction) {
  return collective::is_floating(reduction.type) && reduction.op == ReduceOp::kSum;
}

// The type represents all integers up to this one exactly.
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

// A number with random sign and mantissa and a magnitude between 2^-4 and 2^5.
std::uint64_t wild_float(DataType type, std::uint64_t bits) {
  const FloatFormat f = format_of(type);
  const std::uint64_t exponent = f.bias - 4 + (bits >> 56) % 9;
  return ((bits >> 55 & 1) != 0 ? f.sign : 0) | exponent << f.mantissa |
         (bits & ((std::uint64_t{1} << f.mantissa) - 1));
}

// Halves a number with a magnitude around 1, or 0, by subtracting from its exponent.
std::uint64_t halved(DataType type, std::uint64_t bits, unsigned times) {
  const FloatFormat f = format_of(type);
  return (bits & ~f.sign) == 0 ? bits : bits - (std::uint64_t{times} << f.mantissa);
}

// A gradient that was computed in bf16. The largest magnitude is below 4; numbers below 2^-10 are
// 0.
std::uint64_t amp_float(std::uint64_t bits) {
  constexpr std::uint32_t kExponentMin = 127 - 10;
  const std::uint32_t number = normal_bits(static_cast<std::uint32_t>(bits >> 32), 0) & 0xffff'0000;
  return (number >> 23 & 0xff) < kExponentMin ? 0 : number;
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

// Within this many bytes of a result all elements lack the same contributions, at most three.
constexpr std::size_t kLossCellBytes = 128;
constexpr std::size_t kMissingMax = 3;
constexpr std::array<std::byte, kLossCellBytes> kZeros{};

// Searches for the contributions that a sum lacks.
class Search {
 public:
  Search(const Reduction& reduction, std::span<const std::byte* const> inputs, std::size_t bytes,
         const std::byte* seen)
      : reduction_(reduction), parts_(inputs.begin(), inputs.end()), bytes_(bytes), seen_(seen) {}

  // Whether leaving out `count` further contributions, from number `first` on, gives the seen sum.
  bool finds(std::size_t first, std::size_t count) {
    if (count == 0) return fits();
    for (std::size_t i = first; i + count <= parts_.size(); ++i) {
      const std::byte* const part = parts_[i];
      parts_[i] = kZeros.data();
      ++missing_;
      const bool found = finds(i + 1, count - 1);
      --missing_;
      parts_[i] = part;
      if (found) return true;
    }
    return false;
  }

 private:
  bool fits() const {
    std::array<std::byte, kLossCellBytes> sum{};
    const auto equal = [&] { return std::memcmp(sum.data(), seen_, bytes_) == 0; };
    collective::reduce(reduction_.type, reduction_.op, parts_, bytes_, sum.data());
    if (equal()) return true;
    const auto present = static_cast<std::uint16_t>(parts_.size() - missing_);
    const collective::CellCounts counts{{&present, 1}, kLossCellBytes};
    collective::reduce_scaled(reduction_.type, parts_, bytes_, counts, sum.data());
    return equal();
  }

  Reduction reduction_;
  std::vector<const std::byte*> parts_;
  std::size_t bytes_;
  const std::byte* seen_;
  std::size_t missing_ = 0;
};

// How many of the ranks' `inputs` are missing from the sum `seen`, where zeros or the mean of the
// other inputs replace them; nullopt if no choice of missing inputs gives `seen` bit for bit.
// `bytes`: of each input, at most a cell. Tries all choices, as the plugin reports none.
std::optional<std::size_t> missing_parts(const Reduction& reduction,
                                         std::span<const std::byte* const> inputs,
                                         std::size_t bytes, const std::byte* seen) {
  Search search(reduction, inputs, bytes, seen);
  for (std::size_t count = 0; count <= kMissingMax && count < inputs.size(); ++count)
    if (search.finds(0, count)) return count;
  return std::nullopt;
}

}  // namespace

unsigned loss_halvings(std::uint64_t seed, std::size_t element) {
  return static_cast<unsigned>(mix64(seed ^ (element / kLossBlock + 1)) % 8);
}

ReduceData::ReduceData(const Reduction& reduction, Values values, std::uint64_t seed, int ranks,
                       Magnitudes magnitudes, Data data)
    : reduction_(reduction),
      values_(values),
      by_place_(magnitudes == Magnitudes::kByPlace && is_summed_float(reduction)),
      amp_(data == Data::kAmp),
      seed_(seed),
      ranks_(ranks),
      amplitude_(std::min<std::int64_t>(exact_integers(reduction.type) / ranks, 127)) {
  if (values == Values::kExactAlways && is_summed_float(reduction) && amplitude_ == 0)
    throw BenchError(ExitCode::kUsage,
                     fmt::format("--ranks {}: sums of this many 16-bit floats depend on the "
                                 "order of additions, which differs between algorithms; give "
                                 "--type f32",
                                 ranks));
}

std::uint64_t ReduceData::exact_word(int rank, std::size_t place, std::uint64_t bits) const {
  const DataType type = reduction_.type;
  if (!collective::is_floating(type)) return bits;  // integer sums wrap around, in any order
  if (reduction_.op == ReduceOp::kSum) {
    const auto span = static_cast<std::uint64_t>(2 * amplitude_ + 1);
    const auto value = static_cast<std::int64_t>((bits >> 32) * span >> 32) - amplitude_;
    return float_bits(type, static_cast<double>(value));
  }
  // All but one factor are 1 or -1.
  const auto wild = static_cast<int>(place % static_cast<std::size_t>(ranks_));
  if (reduction_.op == ReduceOp::kProd && rank != wild)
    return float_bits(type, (bits & 1) != 0 ? 1 : -1);
  return wild_float(type, bits);
}

std::uint64_t ReduceData::word(int rank, std::size_t place, std::uint64_t bits) const {
  const DataType type = reduction_.type;
  const std::uint64_t made = amp_                              ? amp_float(bits)
                             : values_ == Values::kExactAlways ? exact_word(rank, place, bits)
                             : collective::is_floating(type)   ? wild_float(type, bits)
                                                               : bits;
  return by_place_ ? halved(type, made, loss_halvings(seed_, place)) : made;
}

template <class Word>
void ReduceData::fill_words(int rank, std::size_t place, std::size_t count, std::byte* to) const {
  const std::uint64_t key = flow_key(seed_, rank, rank, 0);
  for (std::size_t i = 0; i < count; i++) {
    const auto bits = static_cast<Word>(word(rank, place + i, mix64(key + place + i)));
    std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}

void ReduceData::fill_at(int rank, std::size_t place, std::size_t count, std::byte* to) const {
  switch (reduction_.element_bytes()) {
    case 1:
      return fill_words<std::uint8_t>(rank, place, count, to);
    case 2:
      return fill_words<std::uint16_t>(rank, place, count, to);
    case 4:
      return fill_words<std::uint32_t>(rank, place, count, to);
    default:
      return fill_words<std::uint64_t>(rank, place, count, to);
  }
}

void ReduceData::fill(int rank, std::uint64_t iteration, std::size_t first, std::size_t count,
                      std::byte* to) const {
  fill_at(rank, place_of(iteration, first), count, to);
}

std::span<const std::byte* const> ReduceData::inputs(std::size_t place, std::size_t count) {
  const std::size_t piece = kPiece * reduction_.element_bytes();
  inputs_.resize(static_cast<std::size_t>(ranks_) * piece);
  input_of_.clear();
  for (int rank = 0; rank < ranks_; rank++) {
    std::byte* const input = inputs_.data() + static_cast<std::size_t>(rank) * piece;
    fill_at(rank, place, count, input);
    input_of_.push_back(input);
  }
  return input_of_;
}

const std::byte* ReduceData::reduced(std::size_t place, std::size_t count) {
  const std::size_t size = reduction_.element_bytes();
  const std::size_t had = reduced_.size() / size;
  const std::size_t wanted = (place + count + kPiece - 1) / kPiece * kPiece;
  if (had == 0) reduced_.reserve((count + (kRounds + 1) * kPiece) * size);
  if (wanted > had) reduced_.resize(wanted * size);
  for (std::size_t at = had; at < wanted; at += kPiece)
    collective::reduce_forms().front().reduce(reduction_.type, reduction_.op, inputs(at, kPiece),
                                              kPiece * size, nullptr, reduced_.data() + at * size);
  return reduced_.data() + place * size;
}

std::size_t ReduceData::count_wrong(std::uint64_t iteration, std::size_t first, std::size_t count,
                                    const std::byte* seen, int rank) {
  const std::size_t size = reduction_.element_bytes();
  const std::size_t place = place_of(iteration, first);
  if (rank == kAllRanks) return count_unequal(seen, reduced(place, count), count * size, size);
  std::vector<std::byte> input(count * size);
  fill_at(rank, place, count, input.data());
  return count_unequal(seen, input.data(), count * size, size);
}

// Decides for each cell that differs from the full sum whether missing contributions explain it.
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

// SwitchML scales a block by one exponent e. Each of N contributions is then off by N 2^e / 2^32 at
// most, and the sum by N times that and by its own rounding.
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
      // Negated, so that NaN counts as wrong.
      if (!(std::abs(at(seen, i) - sum) <= bound * (1 + 0x1p-20) + std::abs(sum) * 0x1p-24))
        loss.unexplained++;
    }
  }
}

ReduceLoss ReduceData::check(std::uint64_t iteration, const std::byte* result, std::size_t count,
                             May may) {
  const std::size_t size = reduction_.element_bytes();
  ReduceLoss loss;
  (void)reduced(place_of(iteration, 0), count);
  for (std::size_t first = 0; first < count; first += kPiece) {
    const std::size_t n = std::min(kPiece, count - first);
    const std::size_t place = place_of(iteration, first);
    const std::byte* expected = reduced(place, n);
    const std::byte* seen = result + first * size;
    loss.hash = hashed(loss.hash, seen, n * size);
    const bool equal = std::memcmp(seen, expected, n * size) == 0;
    if (may == May::kLack && !equal) explain(inputs(place, n), expected, seen, n * size, loss);
    if (may == May::kRound) find_beyond_rounding(inputs(place, n), seen, n, loss);
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
