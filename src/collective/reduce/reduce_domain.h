// How an element is reduced: loaded from memory, combined with another, and stored. None of these
// steps has a branch, so that compilers vectorise loops over them.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "collective/reduce/element.h"
#include "collective/reduce/float_format.h"

namespace dlcp::collective {

template <class Float, ReduceOp op>
struct Arithmetic {
  using Format = Float;
  static constexpr ReduceOp kOp = op;
  using Word = typename Float::Word;
  using Sum = typename Float::Wide;
  static constexpr Sum load(Word word) { return Float::widen(word); }
  static constexpr Word store(Sum sum) { return Float::narrow(sum); }
  static constexpr Sum combine(Sum a, Sum b) { return op == ReduceOp::kSum ? a + b : a * b; }
};

// Compares bits, so that results do not depend on how a processor treats NaN and signed zeros.
// Floats of one sign, read as integers, are in order; negative ones are inverted. A NaN becomes the
// value that loses every comparison.
template <class Float, ReduceOp op>
struct Ordered {
  using Word = typename Float::Word;
  using Sum = std::make_signed_t<Word>;
  static constexpr Sum kMagnitude = std::numeric_limits<Sum>::max();
  static constexpr Sum kLoser =
      op == ReduceOp::kMax ? std::numeric_limits<Sum>::min() : std::numeric_limits<Sum>::max();

  static constexpr Sum turned(Sum bits) {  // its own inverse
    return static_cast<Sum>(bits ^ ((bits >> (8 * sizeof(Sum) - 1)) & kMagnitude));
  }
  static constexpr Sum load(Word word) {
    const auto bits = static_cast<Sum>(word);
    const bool is_number = (bits & kMagnitude) <= static_cast<Sum>(Float::kInfinity);
    return is_number ? turned(bits) : kLoser;
  }
  static constexpr Word store(Sum sum) {
    return sum == kLoser ? Float::kNan : static_cast<Word>(turned(sum));
  }
  static constexpr Sum combine(Sum a, Sum b) {
    if constexpr (op == ReduceOp::kMax) return a > b ? a : b;
    return a < b ? a : b;
  }
};

// Signed overflow is undefined, so signed sums and products are computed as unsigned ones.
template <std::integral Int, ReduceOp op>
struct Integer {
  using Word = Int;
  using Sum = Int;
  static constexpr Sum load(Word word) { return word; }
  static constexpr Word store(Sum sum) { return sum; }
  static constexpr Sum combine(Sum a, Sum b) {
    if constexpr (op == ReduceOp::kSum) return static_cast<Sum>(a + b);
    if constexpr (op == ReduceOp::kProd) return static_cast<Sum>(a * b);
    if constexpr (op == ReduceOp::kMax) return a > b ? a : b;
    return a < b ? a : b;
  }
};

template <ReduceOp op>
inline constexpr bool kComputes = op == ReduceOp::kSum || op == ReduceOp::kProd;

template <std::integral Int, ReduceOp op>
using Integral = Integer<std::conditional_t<kComputes<op>, std::make_unsigned_t<Int>, Int>, op>;
template <class Float, ReduceOp op>
using Floating = std::conditional_t<op == ReduceOp::kSum || op == ReduceOp::kProd,
                                    Arithmetic<Float, op>, Ordered<Float, op>>;

template <DataType type, ReduceOp op>
struct DomainOf;
#define DLCP_DOMAIN(TYPE, ...)          \
  template <ReduceOp op>                \
  struct DomainOf<DataType::TYPE, op> { \
    using Domain = __VA_ARGS__;         \
  }
DLCP_DOMAIN(kInt8, Integral<std::int8_t, op>);
DLCP_DOMAIN(kUint8, Integral<std::uint8_t, op>);
DLCP_DOMAIN(kInt32, Integral<std::int32_t, op>);
DLCP_DOMAIN(kUint32, Integral<std::uint32_t, op>);
DLCP_DOMAIN(kInt64, Integral<std::int64_t, op>);
DLCP_DOMAIN(kUint64, Integral<std::uint64_t, op>);
DLCP_DOMAIN(kFloat16, Floating<Half, op>);
DLCP_DOMAIN(kFloat32, Floating<Plain<float, std::uint32_t>, op>);
DLCP_DOMAIN(kFloat64, Floating<Plain<double, std::uint64_t>, op>);
DLCP_DOMAIN(kBfloat16, Floating<Bfloat, op>);
#undef DLCP_DOMAIN

// True if elements are converted from fp16, for which processors have instructions.
template <class Domain>
inline constexpr bool kComputesHalves = requires {
  requires std::same_as<typename Domain::Format, Half>;
};

}  // namespace dlcp::collective
