#include "collective/switchml/switch_hello.h"

namespace dlcp::collective {
namespace {

constexpr std::size_t kFirstRankAt = 1;
constexpr std::size_t kWordAt = kFirstRankAt + kSwitchWorkersMax;

SwitchHead head_of(const SwitchHello::Terms& terms) {
  SwitchHead head;
  head.job = terms.job;
  head.serial = terms.serial;
  head.slot = static_cast<std::uint16_t>(terms.slot);
  head.values = static_cast<std::uint16_t>(terms.values);
  return head;
}

}  // namespace

SwitchHello::SwitchHello(const Terms& terms)
    : terms_(terms), packet_(switch_packet_bytes(terms.values)) {
  write_switch_head(head_of(terms_), packet_);
  const std::span<std::byte> packet(packet_);
  store_be32(switch_value_at(packet, 0), 1);
  store_be32(switch_value_at(packet, kFirstRankAt + terms_.rank), 1);
  store_be32(switch_value_at(packet, kWordAt), terms_.word);
}

SwitchHello::Answer SwitchHello::read(std::span<const std::byte> datagram) {
  const auto head = read_switch_head(datagram);
  if (!head || *head != head_of(terms_)) return Answer::kNone;
  fault_ = fault_of(datagram);
  return fault_.empty() ? Answer::kRight : Answer::kWrong;
}

std::string SwitchHello::fault_of(std::span<const std::byte> answer) const {
  const auto value = [&](std::size_t at) { return load_be32(switch_value_at(answer, at)); };
  if (value(0) != terms_.workers) {
    return "it adds " + std::to_string(value(0)) + " workers, but the group has " +
           std::to_string(terms_.workers);
  }
  for (unsigned rank = 0; rank < terms_.workers; ++rank) {
    const std::uint32_t times = value(kFirstRankAt + rank);
    if (times != 1)
      return "it has added the data of rank " + std::to_string(rank) + " " + std::to_string(times) +
             " times";
  }
  return value(kWordAt) == terms_.word * terms_.workers ? ""
                                                        : "it has added the data of workers of "
                                                          "another job";
}

}  // namespace dlcp::collective
