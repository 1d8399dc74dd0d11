// Decodes the packets of compressed messages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "wire/data_header.h"

namespace dlcp::core {

class Decoder {
 public:
  // Returns nullopt if the bytes are not a valid code, for example because they were damaged. The
  // result is valid until the next call, or is the payload itself.
  std::optional<std::span<const std::byte>> decode(const wire::Coding& coding,
                                                   std::span<const std::byte> payload);

 private:
  std::vector<std::byte> plain_;
};

}  // namespace dlcp::core
