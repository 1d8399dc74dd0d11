// Who makes the tags of data packets that cover their payload (Protection::kFull): hardware that
// reads the payload anyway, or whoever can read memory that the processor cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/keys.h"

namespace dlcp::wire {

class TagSource {
 public:
  virtual ~TagSource() = default;
  // What data_tag (data_header.h) says of the bytes themselves: `header` is without its tag.
  virtual std::uint64_t tag(const Key& key, std::span<const std::byte> header,
                            std::span<const std::byte> payload) const = 0;
};

}  // namespace dlcp::wire
