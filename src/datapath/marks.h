// The byte that marks packets of each class (IPv4 TOS or IPv6 traffic class), from kTrafficClasses.
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
