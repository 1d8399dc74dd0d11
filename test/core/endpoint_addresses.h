// Addresses of endpoints that exist only in tests.
#pragma once

#include <cstdint>

#include "wire/packet.h"

namespace dlcp::test {

inline wire::EndpointAddress address_of(std::uint8_t host) {
  wire::EndpointAddress address;
  address.bytes[0] = std::byte{host};
  address.size = 1;
  return address;
}

}  // namespace dlcp::test
