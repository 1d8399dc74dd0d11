// The simulated SwitchML switch with datagrams of any bytes. Its answers have the protocol's
// format, and it completes no sum to which a worker has not contributed.
#include <vector>

#include "collective/switchml/aggregator/switch_aggregator.h"
#include "fuzz_input.h"

using namespace dlcp;
using namespace dlcp::collective;
using dlcp::test::FuzzInput;
using dlcp::test::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput in(data, size);
  const unsigned workers = 1 + static_cast<unsigned>(in.below(3));
  SwitchAggregator aggregator({workers, 1 + static_cast<unsigned>(in.below(2)), 64});
  std::vector<std::byte> packet(switch_packet_bytes(64));
  for (int turn = 0; turn < 300 && !in.empty(); ++turn) {
    const unsigned worker = static_cast<unsigned>(in.below(workers + 1));
    const auto kind = in.below(16);
    SwitchAggregator::To to{};
    if (kind == 0) {
      to = aggregator.on_packet(worker, in.take_bytes(in.below(300)));
    } else if (kind == 1) {
      aggregator.restart();
    } else {
      SwitchHead head;
      head.values = 64;
      head.serial = in.take<std::uint8_t>() % 8 + (kind == 2 ? 0x7ffffffcu : 0);
      head.slot = static_cast<std::uint16_t>(in.below(3));
      head.second_set = in.take<bool>();
      head.job = kind == 3 ? 1 : 0;
      head.exponents[0] = in.take<std::int8_t>();
      write_switch_head(head, packet);
      store_be32(switch_value_at(std::span(packet), 0), in.take<std::uint32_t>());
      to = aggregator.on_packet(worker, packet);
    }
    if (to == SwitchAggregator::To::kNobody) continue;
    require(worker < workers, "foreign packets get no answer");
    require(read_switch_head(aggregator.answer()).has_value(),
            "answers have the protocol's format");
    const auto& counts = aggregator.counts();
    require(counts.sums * workers <= counts.added, "a sum includes every worker");
  }
  return 0;
}
