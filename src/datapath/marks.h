// The byte that each class is marked with (IPv4's TOS, IPv6's traffic class), from the one table.
#pragma once

#include <array>
#include <cstdint>

#include "dlcp/traffic_class.h"

namespace dlcp::datapath {

using ClassMarks = std::array<std::uint8_t, kTrafficClassCount>;

constexpr ClassMarks default_tos() {
  ClassMarks tos{};
  for (const TrafficClassRow& row : kTrafficClasses)
    tos[static_cast<std::size_t>(row.traffic_class)] = tos_of(row);
  return tos;
}

}  // namespace dlcp::datapath
