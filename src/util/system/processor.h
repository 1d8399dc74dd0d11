// Optional instructions of the processor.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace dlcp {

// Queried once: the instruction is slow, and in a virtual machine it traps to the hypervisor.
inline bool has_avx2_and_f16c() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool has_f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    return __builtin_cpu_supports("avx2") != 0 && has_f16c;
  }();
  return has;
}

}  // namespace dlcp
#endif
