// The GPU's arithmetic on elements: the reduction of two, the step before the first (an average's
// factor) and after the last (an integer average's division). Types of 16 and 8 bits are computed
// in float32 and rounded after each step, as in NCCL's kernels.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device.h"  // NCCL's

namespace nccl_host {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
auto computed(T element) {
  if constexpr (std::is_same_v<T, __half>)
    return __half2float(element);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(element);
  else
    return element;
}

template <class T, class Computed>
T rounded(Computed value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half_rn(value);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(value);
  else
    return static_cast<T>(value);
}

template <class T>
class Operation {
 public:
  Operation(int kind, std::uint64_t argument) : kind_(kind), argument_(argument) {}

  bool has_before() const { return kind_ == ncclDevPreMulSum; }
  bool has_after() const { return kind_ == ncclDevSumPostDiv; }

  T reduce(T a, T b) const {
    const auto x = computed(a);
    const auto y = computed(b);
    if (kind_ == ncclDevMinMax) return extreme(a, b);
    return kind_ == ncclDevProd ? rounded<T>(x * y) : rounded<T>(x + y);
  }
  T before(T element) const {
    T factor;
    std::memcpy(&factor, &argument_, sizeof factor);
    return rounded<T>(computed(element) * computed(factor));
  }
  T after(T element) const {
    if constexpr (std::is_integral_v<T>) {
      using Signed = std::make_signed_t<T>;
      const std::uint64_t divisor = argument_ >> 1;
      if ((argument_ & 1) != 0)
        return static_cast<T>(static_cast<Signed>(element) / static_cast<Signed>(divisor));
      return static_cast<T>(element / divisor);
    }
    return element;
  }

 private:
  // NCCL uses a mask to turn a maximum of integers into a minimum, and signed into unsigned order.
  T extreme(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T mask = static_cast<T>(argument_);
      return static_cast<T>(a ^ mask) < static_cast<T>(b ^ mask) ? a : b;
    } else {
      const auto x = computed(a);
      const auto y = computed(b);
      return rounded<T>((argument_ & 1) != 0 ? std::fmax(x, y) : std::fmin(x, y));
    }
  }

  int kind_;
  std::uint64_t argument_;
};

}  // namespace nccl_host
