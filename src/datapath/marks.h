// The byte that marks packets of each class (IPv4 TOS or IPv6 traffic class), from kTrafficClasses.
#pragma once

#include <array>
#include <cstdint>

#include "dlcp/traffic_class.h"
#include "wire/packet.h"

namespace dlcp::datapath {

using ClassMarks = std::array<std::uint8_t, kTrafficClassCount>;

constexpr ClassMarks default_tos() {
  ClassMarks tos{};
  for (const TrafficClassRow& row : kTrafficClasses)
    tos[static_cast<std::size_t>(row.traffic_class)] = tos_of(row);
  return tos;
}

constexpr std::uint8_t tos_of(const ClassMarks& marks, const wire::TxPacket& packet) {
  return packet.unmarked ? 0 : marks[static_cast<std::size_t>(packet.traffic_class)];
}

}  // namespace dlcp::datapath
