// The code with AdvSIMD, which every ARMv8 processor has. Compilers vectorise most loops; those
// that divide elements into bytes, and reassemble them, are written with intrinsics.
#include "compression/block/form.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define DLCP_FORM neon
#define DLCP_TARGET
#include "compression/block/code.h"

namespace dlcp::compression {
namespace neon {

DLCP_LOOP const std::uint8_t* bytes_at(const std::byte* at) {
  return reinterpret_cast<const std::uint8_t*>(at);
}

struct NeonLoops : Loops {
  template <class L>
  DLCP_LOOP static std::uint8_t split(const std::byte* in, std::size_t count, unsigned dropped,
                                      Bytes* exponents, const std::array<Bytes*, 3>& planes) {
    if constexpr (sizeof(typename L::Word) == 4) {
      return split_quads(in, count, dropped, exponents, planes);
    } else if constexpr (sizeof(typename L::Word) == 2 && L::kLowBits == 8) {
      if (dropped == 0) return split_pairs(in, count, exponents, planes[0]);
    }
    return Loops::split<L>(in, count, dropped, exponents, planes);
  }

  template <class L>
  DLCP_LOOP static void merge(const Bytes* exponents, const std::array<const Bytes*, 3>& planes,
                              unsigned dropped, std::byte* out, std::size_t count) {
    if constexpr (sizeof(typename L::Word) == 4) {
      return merge_quads(exponents, planes, dropped, out, count);
    } else if constexpr (sizeof(typename L::Word) == 2 && L::kLowBits == 8) {
      if (dropped == 0) return merge_pairs(exponents, planes[0], out, count);
    }
    Loops::merge<L>(exponents, planes, dropped, out, count);
  }

 private:
  // bfloat16. After the load that separates the two bytes, the lowest bit of the exponent is above
  // the mantissa, and the sign is above the exponent.
  DLCP_LOOP static std::uint8_t split_pairs(const std::byte* in, std::size_t count,
                                            Bytes* exponents, Bytes* low) {
    uint8x16_t largest = vdupq_n_u8(0);
    for (std::size_t i = 0; i < count; i += 16) {
      const uint8x16x2_t pair = vld2q_u8(bytes_at(in + 2 * i));
      const uint8x16_t exponent = vsriq_n_u8(vshlq_n_u8(pair.val[1], 1), pair.val[0], 7);
      vst1q_u8(low + i, vsriq_n_u8(vshlq_n_u8(pair.val[0], 1), pair.val[1], 7));
      vst1q_u8(exponents + i, exponent);
      largest = vmaxq_u8(largest, exponent);
    }
    return vmaxvq_u8(largest);
  }

  DLCP_LOOP static void merge_pairs(const Bytes* exponents, const Bytes* low, std::byte* out,
                                    std::size_t count) {
    for (std::size_t i = 0; i < count; i += 16) {
      const uint8x16_t exponent = vld1q_u8(exponents + i);
      const uint8x16_t bits = vld1q_u8(low + i);
      const uint8x16x2_t pair{{vsliq_n_u8(vshrq_n_u8(bits, 1), exponent, 7),
                               vsliq_n_u8(vshrq_n_u8(exponent, 1), bits, 7)}};
      vst2q_u8(reinterpret_cast<std::uint8_t*>(out + 2 * i), pair);
    }
  }

  // float32: four elements at a time are rotated and shortened; sixteen are separated into bytes.
  DLCP_LOOP static std::uint8_t split_quads(const std::byte* in, std::size_t count,
                                            unsigned dropped, Bytes* exponents,
                                            const std::array<Bytes*, 3>& planes) {
    const int32x4_t shift = vdupq_n_s32(-static_cast<int>(dropped));
    const uint32x4_t low_mask = vdupq_n_u32(0xffffff);
    uint8x16_t largest = vdupq_n_u8(0);
    for (std::size_t i = 0; i < count; i += 16) {
      alignas(16) std::array<std::uint8_t, 64> words;
      for (std::size_t k = 0; k < 64; k += 16) {
        const uint32x4_t word = vreinterpretq_u32_u8(vld1q_u8(bytes_at(in + 4 * i + k)));
        const uint32x4_t sign = vshrq_n_u32(word, 31);
        const uint32x4_t turned = vorrq_u32(vshlq_n_u32(word, 1), sign);
        const uint32x4_t low = vorrq_u32(vshlq_u32(vandq_u32(turned, low_mask), shift), sign);
        vst1q_u8(words.data() + k, vreinterpretq_u8_u32(vbslq_u32(low_mask, low, turned)));
      }
      const uint8x16x4_t bytes = vld4q_u8(words.data());
      vst1q_u8(planes[0] + i, bytes.val[0]);
      vst1q_u8(planes[1] + i, bytes.val[1]);
      vst1q_u8(planes[2] + i, bytes.val[2]);
      vst1q_u8(exponents + i, bytes.val[3]);
      largest = vmaxq_u8(largest, bytes.val[3]);
    }
    return vmaxvq_u8(largest);
  }

  DLCP_LOOP static void merge_quads(const Bytes* exponents,
                                    const std::array<const Bytes*, 3>& planes, unsigned dropped,
                                    std::byte* out, std::size_t count) {
    const int32x4_t shift = vdupq_n_s32(static_cast<int>(dropped));
    const uint32x4_t low_mask = vdupq_n_u32(0xffffff);
    const uint32x4_t one = vdupq_n_u32(1);
    for (std::size_t i = 0; i < count; i += 16) {
      alignas(16) std::array<std::uint8_t, 64> words;
      vst4q_u8(words.data(), uint8x16x4_t{{vld1q_u8(planes[0] + i), vld1q_u8(planes[1] + i),
                                           vld1q_u8(planes[2] + i), vld1q_u8(exponents + i)}});
      for (std::size_t k = 0; k < 64; k += 16) {
        const uint32x4_t word = vreinterpretq_u32_u8(vld1q_u8(words.data() + k));
        const uint32x4_t mantissa = vshlq_u32(vbicq_u32(vandq_u32(word, low_mask), one), shift);
        const uint32x4_t turned = vbslq_u32(low_mask, mantissa, word);
        const uint32x4_t plain = vsliq_n_u32(vshrq_n_u32(turned, 1), word, 31);
        vst1q_u8(reinterpret_cast<std::uint8_t*>(out + 4 * i + k), vreinterpretq_u8_u32(plain));
      }
    }
  }
};

}  // namespace neon

const BlockForm* neon_form() {
  static constexpr BlockForm kForm =
      neon::form_of<neon::NeonLoops>("neon", true, std::make_index_sequence<kFormatCount>());
  return &kForm;
}

}  // namespace dlcp::compression
#else
namespace dlcp::compression {
const BlockForm* neon_form() {
  return nullptr;
}
}  // namespace dlcp::compression
#endif
