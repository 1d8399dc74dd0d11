// Every implementation compared with a reference that reduces one element at a time as the header
// specifies. The inputs are random bits, so they include NaN, infinities, subnormals and zeros of
// both signs.
#include "collective/reduce/reduce.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "catch.h"
#include "util/rng.h"

using namespace dlcp;
using collective::DataType;
using collective::ReduceOp;

namespace {

using Bytes = std::vector<std::byte>;

constexpr DataType kTypes[] = {DataType::kInt8,    DataType::kUint8,   DataType::kInt32,
                               DataType::kUint32,  DataType::kInt64,   DataType::kUint64,
                               DataType::kFloat16, DataType::kFloat32, DataType::kFloat64,
                               DataType::kBfloat16};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin};

// A floating-point type by its parts. Values are doubles, which can represent every value of the
// types of 16 and 32 bits.
struct Format {
  int fraction_bits = 0;
  int exponent_bits = 0;
};

Format format_of(DataType type) {
  if (type == DataType::kFloat16) return {10, 5};
  if (type == DataType::kBfloat16) return {7, 8};
  if (type == DataType::kFloat32) return {23, 8};
  return {52, 11};
}

double value_of(const Format& format, std::uint64_t bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const int largest = (1 << format.exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> format.fraction_bits) & largest;
  const bool negative = (bits >> (format.fraction_bits + format.exponent_bits) & 1) != 0;
  double size = 0;
  if (exponent == largest) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  } else {
    const int scale = std::max(exponent, 1) - largest / 2 - format.fraction_bits;
    const std::uint64_t leading = exponent > 0 ? std::uint64_t{1} << format.fraction_bits : 0;
    size = std::ldexp(static_cast<double>(fraction | leading), scale);
  }
  return std::copysign(size, negative ? -1 : 1);
}

// The nearest value of the format, ties to even; NaN becomes the one without sign and payload.
std::uint64_t bits_of(const Format& format, double value) {
  const std::uint64_t largest = (std::uint64_t{1} << format.exponent_bits) - 1;
  if (std::isnan(value))
    return largest << format.fraction_bits | std::uint64_t{1} << (format.fraction_bits - 1);
  const std::uint64_t sign = std::uint64_t{std::signbit(value)}
                             << (format.fraction_bits + format.exponent_bits);
  value = std::abs(value);
  if (std::isinf(value)) return sign | largest << format.fraction_bits;
  if (value == 0) return sign;
  const int bias = static_cast<int>(largest / 2);
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  // In units of the last place; rounding up to the next power of two carries into the exponent.
  const auto units = static_cast<std::uint64_t>(
      std::nearbyint(std::ldexp(value, format.fraction_bits - exponent)));
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(exponent + bias - 1) << format.fraction_bits) + units;
  return sign | std::min(bits, largest << format.fraction_bits);
}

double combined(ReduceOp op, DataType type, double a, double b) {
  if (op == ReduceOp::kSum || op == ReduceOp::kProd) {
    if (type == DataType::kFloat64) return op == ReduceOp::kSum ? a + b : a * b;
    const auto x = static_cast<float>(a);
    const auto y = static_cast<float>(b);
    return op == ReduceOp::kSum ? x + y : x * y;
  }
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  const bool a_is_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_is_less == (op == ReduceOp::kMin) ? a : b;
}

template <class Int>
Int combined(ReduceOp op, Int a, Int b) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kProd: {
      __extension__ using Wide = unsigned __int128;
      return static_cast<Int>(op == ReduceOp::kSum ? static_cast<Wide>(a) + static_cast<Wide>(b)
                                                   : static_cast<Wide>(a) * static_cast<Wide>(b));
    }
    case ReduceOp::kMax:
      return std::max(a, b);
    case ReduceOp::kMin:
      return std::min(a, b);
  }
  return 0;
}

template <class Int>
std::uint64_t integer_expected(ReduceOp op, const std::vector<std::uint64_t>& words) {
  auto sum = static_cast<Int>(words[0]);
  for (std::size_t k = 1; k < words.size(); ++k)
    sum = combined<Int>(op, sum, static_cast<Int>(words[k]));
  return static_cast<std::uint64_t>(sum);
}

// `factor`: multiplies the result before it is rounded; 1 has no effect.
std::uint64_t float_expected(DataType type, ReduceOp op, const std::vector<std::uint64_t>& words,
                             double factor) {
  const Format format = format_of(type);
  double sum = value_of(format, words[0]);
  for (std::size_t k = 1; k < words.size(); ++k)
    sum = combined(op, type, sum, value_of(format, words[k]));
  sum = type == DataType::kFloat64 ? sum * factor
                                   : static_cast<float>(sum) * static_cast<float>(factor);
  return bits_of(format, sum);
}

std::uint64_t expected(DataType type, ReduceOp op, const std::vector<std::uint64_t>& words,
                       double factor = 1) {
  switch (type) {
    case DataType::kInt8:
      return integer_expected<std::int8_t>(op, words);
    case DataType::kUint8:
      return integer_expected<std::uint8_t>(op, words);
    case DataType::kInt32:
      return integer_expected<std::int32_t>(op, words);
    case DataType::kUint32:
      return integer_expected<std::uint32_t>(op, words);
    case DataType::kInt64:
      return integer_expected<std::int64_t>(op, words);
    case DataType::kUint64:
      return integer_expected<std::uint64_t>(op, words);
    default:
      return float_expected(type, op, words, factor);
  }
}

std::uint64_t word_at(DataType type, const std::byte* block, std::size_t index) {
  std::uint64_t word = 0;  // little-endian hosts only
  std::memcpy(&word, block + index * bytes_of(type), bytes_of(type));
  return word;
}

// Random bits; every fourth floating-point element has an exponent from the ends of the range, or
// close to its neighbours', so that sums round, cancel, overflow and include NaN.
Bytes draw(DataType type, std::size_t bytes, Rng& rng) {
  Bytes block(bytes);
  for (auto& byte : block)
    byte = static_cast<std::byte>(rng.below(256));
  if (!collective::is_floating(type)) return block;
  const Format format = format_of(type);
  const std::uint64_t largest = (std::uint64_t{1} << format.exponent_bits) - 1;
  for (std::size_t i = 0; i < bytes / bytes_of(type); ++i) {
    const std::uint64_t kExponents[] = {0, 1, largest / 2, largest / 2 + 1, largest - 1, largest};
    const std::uint64_t choice = rng.below(12);
    if (choice >= std::size(kExponents)) continue;
    std::uint64_t word = word_at(type, block.data(), i);
    word &= ~(largest << format.fraction_bits);
    word |= kExponents[choice] << format.fraction_bits;
    if (rng.below(4) == 0) word &= ~((std::uint64_t{1} << format.fraction_bits) - 1);
    std::memcpy(block.data() + i * bytes_of(type), &word, bytes_of(type));
  }
  return block;
}

struct Inputs {
  std::vector<Bytes> blocks;
  std::vector<const std::byte*> pointers;

  // Each input begins at an odd address, and the bytes behind it must not count.
  Inputs(DataType type, std::size_t inputs, std::size_t bytes, Rng& rng) {
    for (std::size_t k = 0; k < inputs; ++k) {
      const std::size_t shift = rng.below(8);
      Bytes block = draw(type, bytes, rng);
      block.insert(block.begin(), shift, std::byte{0x7f});
      blocks.push_back(std::move(block));
      pointers.push_back(blocks.back().data() + shift);
    }
  }
  std::vector<std::uint64_t> words(DataType type, std::size_t index) const {
    std::vector<std::uint64_t> words;
    for (const std::byte* block : pointers)
      words.push_back(word_at(type, block, index));
    return words;
  }
};

std::uint64_t cut(DataType type, std::uint64_t word) {
  return bytes_of(type) == 8 ? word : word & ((std::uint64_t{1} << 8 * bytes_of(type)) - 1);
}

constexpr std::byte kUntouched{0xa5};

}  // namespace

TEST_CASE("every implementation reduces every type by every operation as the reference does",
          "[collective][reduce]") {
  Rng rng(13);
  for (const DataType type : kTypes) {
    for (const ReduceOp op : kOps) {
      for (const std::size_t count : {1, 2, 3, 7, 8, 64}) {
        for (const std::size_t elements : {1, 5, 31, 64, 333, 1024, 4133}) {
          if (count == 64 && elements > 1024) continue;  // the reference is slow
          const std::size_t bytes = elements * bytes_of(type);
          const Inputs inputs(type, count, bytes, rng);
          std::vector<std::uint64_t> wanted;
          for (std::size_t i = 0; i < elements; ++i) {
            const auto words = inputs.words(type, i);
            wanted.push_back(count == 1 ? words[0] : cut(type, expected(type, op, words)));
          }
          for (const auto& form : collective::reduce_forms()) {
            if (!form.supported) continue;
            Bytes memory(bytes + 16, kUntouched);
            std::byte* const out = memory.data() + 3;
            form.reduce(type, op, inputs.pointers, bytes, nullptr, out);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < elements; ++i)
              wrong += word_at(type, out, i) != wanted[i];
            INFO(form.name << ", type " << static_cast<int>(type) << ", op " << static_cast<int>(op)
                           << ", " << count << " inputs of " << elements << " elements");
            REQUIRE(wrong == 0);
            REQUIRE(out[-1] == kUntouched);
            REQUIRE(out[bytes] == kUntouched);
          }
        }
      }
    }
  }
}

TEST_CASE("the result may overwrite any input", "[collective][reduce]") {
  Rng rng(14);
  for (const DataType type : kTypes) {
    for (const ReduceOp op : kOps) {
      for (const std::size_t count : {1, 2, 3, 7, 8}) {
        const std::size_t bytes = 2311 * bytes_of(type);
        const Inputs inputs(type, count, bytes, rng);
        for (const auto& form : collective::reduce_forms()) {
          if (!form.supported) continue;
          Bytes apart(bytes);
          form.reduce(type, op, inputs.pointers, bytes, nullptr, apart.data());
          for (std::size_t k = 0; k < count; ++k) {
            Bytes place(inputs.pointers[k], inputs.pointers[k] + bytes);
            auto pointers = inputs.pointers;
            pointers[k] = place.data();
            form.reduce(type, op, pointers, bytes, nullptr, place.data());
            INFO(form.name << ", type " << static_cast<int>(type) << ", op " << static_cast<int>(op)
                           << ", in place of " << k << " of " << count);
            REQUIRE(place == apart);
          }
        }
      }
    }
  }
}

TEST_CASE("every half and every bfloat16 value passes through a sum unchanged",
          "[collective][reduce]") {
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    Bytes all(2 * 0x10000);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
      std::memcpy(all.data() + 2 * bits, &bits, 2);
    Bytes zeros(
        all.size());  // negative zeros, because positive ones would change the sign of another zero
    for (std::size_t i = 1; i < zeros.size(); i += 2)
      zeros[i] = std::byte{0x80};
    const std::vector<const std::byte*> inputs{all.data(), zeros.data()};
    for (const auto& form : collective::reduce_forms()) {
      if (!form.supported) continue;
      Bytes out(all.size());
      form.reduce(type, ReduceOp::kSum, inputs, all.size(), nullptr, out.data());
      std::size_t wrong = 0;
      for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const bool is_nan = std::isnan(value_of(format_of(type), bits));
        const std::uint64_t wanted = is_nan ? bits_of(format_of(type), std::nan("")) : bits;
        wrong += word_at(type, out.data(), bits) != wanted;
      }
      INFO(form.name << ", type " << static_cast<int>(type));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("sums of halves are rounded once, at the end", "[collective][reduce]") {
  // 2048 + 1 + 1: with rounding after each step, both ones would be lost.
  const std::uint16_t kWords[] = {0x6800, 0x3c00, 0x3c00};
  std::vector<const std::byte*> inputs;
  for (const auto& word : kWords)
    inputs.push_back(reinterpret_cast<const std::byte*>(&word));
  std::uint16_t sum = 0;
  collective::reduce(DataType::kFloat16, ReduceOp::kSum, inputs, 2,
                     reinterpret_cast<std::byte*>(&sum));
  CHECK(sum == 0x6801);  // 2050
}

TEST_CASE("a cell with missing contributions is scaled up, a complete one is the plain sum",
          "[collective][reduce]") {
  Rng rng(15);
  for (const DataType type : kTypes) {
    for (const std::size_t cell_bytes : {128, 1408, 8192}) {
      const std::size_t count = 8;
      const std::size_t bytes = 5000 * bytes_of(type);
      const Inputs inputs(type, count, bytes, rng);
      std::vector<std::uint16_t> present;
      for (std::size_t at = 0; at < bytes; at += cell_bytes)
        present.push_back(static_cast<std::uint16_t>(rng.below(2) == 0 ? count : rng.below(count)));
      const collective::CellCounts counts{present, cell_bytes};
      for (const auto& form : collective::reduce_forms()) {
        if (!form.supported) continue;
        Bytes out(bytes);
        form.reduce(type, ReduceOp::kSum, inputs.pointers, bytes, &counts, out.data());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < bytes / bytes_of(type); ++i) {
          const std::size_t here = present[i * bytes_of(type) / cell_bytes];
          double factor =
              here == count ? 1 : static_cast<double>(count) / static_cast<double>(here);
          if (type != DataType::kFloat64) factor = static_cast<float>(factor);
          const bool is_empty = here == 0 && collective::is_floating(type);
          const std::uint64_t wanted =
              is_empty ? 0 : expected(type, ReduceOp::kSum, inputs.words(type, i), factor);
          wrong += word_at(type, out.data(), i) != cut(type, wanted);
        }
        INFO(form.name << ", type " << static_cast<int>(type) << ", cells of " << cell_bytes);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("an unsupported reduction is refused and writes nothing", "[collective][reduce]") {
  CHECK(collective::can_reduce(0, 0));
  CHECK(collective::can_reduce(9, 3));
  for (const int type : {-1, 10, 11, 1 << 20})
    CHECK_FALSE(collective::can_reduce(type, 0));
  for (const int op : {-1, 4, 5, 1 << 20})
    CHECK_FALSE(collective::can_reduce(7, op));
  CHECK(bytes_of(static_cast<DataType>(10)) == 0);
  const Bytes block(64);
  const std::vector<const std::byte*> inputs{block.data(), block.data()};
  Bytes out(64, kUntouched);
  const Bytes before = out;
  collective::reduce(static_cast<DataType>(11), ReduceOp::kSum, inputs, 64, out.data());
  collective::reduce(DataType::kFloat32, static_cast<ReduceOp>(4), inputs, 64, out.data());
  collective::reduce(DataType::kFloat32, ReduceOp::kSum, {}, 64, out.data());
  CHECK(out == before);
}
