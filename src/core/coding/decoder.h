// Gives the plain bytes of a packet of a compressed message.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "wire/data_header.h"

namespace dlcp::core {

class Decoder {
 public:
  // Nothing if the bytes are no code, for example because they were damaged on the way. What is
  // returned stays valid until the next call, or is the payload itself.
  std::optional<std::span<const std::byte>> decode(const wire::Coding& coding,
                                                   std::span<const std::byte> payload);

 private:
  std::vector<std::byte> plain_;
};

}  // namespace dlcp::core
