// Computes the tags of data packets that cover their payload (Protection::kFull): hardware that
// reads the payload anyway, or code that can read memory that the processor cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/keys.h"

namespace dlcp::wire {

class TagSource {
 public:
  virtual ~TagSource() = default;
  // Returns the same value as data_tag (data_header.h). `header` ends before the tag,
  // and `number` is the packet's full number.
  virtual std::uint64_t tag(const Key& key, std::uint64_t number, std::span<const std::byte> header,
                            std::span<const std::byte> payload) const = 0;
};

}  // namespace dlcp::wire
