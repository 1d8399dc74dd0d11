// A SwitchML worker with datagrams of any bytes: raw ones, and its own packets with some bytes
// changed. Whatever it receives, it never has more packets in flight than slots, and its packets
// have the protocol's format.
#include <algorithm>
#include <span>
#include <vector>

#include "collective/switchml/switch_hello.h"
#include "collective/switchml/switch_name.h"
#include "collective/switchml/worker/switch_worker.h"
#include "fuzz_input.h"

using namespace dlcp;
using namespace dlcp::collective;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

struct Conversation {
  explicit Conversation(FuzzInput& input)
      : in(input),
        terms{1 + static_cast<unsigned>(in.below(32)), 1 + static_cast<unsigned>(in.below(4)), 64},
        worker(terms),
        data(in.below(600)),
        result(data.size()) {
    for (float& x : data)
      x = static_cast<float>(in.take<std::int32_t>());
  }

  void send() {
    const auto packet = worker.poll_transmit(now);
    if (packet.empty()) return;
    require(read_switch_head(packet).has_value(), "a worker's packet has the protocol's format");
    sent.emplace_back(packet.begin(), packet.end());
    if (sent.size() > terms.slots) sent.erase(sent.begin());
  }

  void answer() {
    if (sent.empty()) return;
    auto packet = sent[in.below(sent.size())];
    for (auto changes = in.below(4); changes > 0; --changes)
      packet[in.below(packet.size())] = std::byte{in.take<std::uint8_t>()};
    worker.on_datagram(packet, now);
  }

  void turn() {
    switch (in.below(8)) {
      case 0:
        worker.on_datagram(in.take_bytes(in.below(300)), now);
        break;
      case 1:
        now += Duration(in.take<std::uint32_t>());
        break;
      case 2:
        if (worker.deadline() != kNever) now = std::max(now, worker.deadline());
        break;
      case 3:
        worker.start(data, result);
        break;
      case 4:
      case 5:
        send();
        break;
      default:
        answer();
        break;
    }
    require(worker.counts().taken <= worker.counts().sent, "an answer belongs to a packet");
  }

  FuzzInput& in;
  SwitchTerms terms;
  SwitchWorker worker;
  std::vector<float> data, result;
  std::vector<std::vector<std::byte>> sent;
  Time now = time_from_ns(1);
};

}  // namespace

// The first answer of a job and the name of a switch are foreign input too.
void read_as_others(std::span<const std::byte> bytes) {
  SwitchHello hello({32, 31, 5, 64, 1, 2, 3});
  if (hello.read(bytes) == SwitchHello::Answer::kWrong)
    require(!hello.fault().empty(), "an error has a message");
  const auto name = switch_name({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  require(!name || (name.value().port != 0 && name.value().slots >= 2 &&
                    name.value().slots <= kSwitchSlotsMax),
          "what is read is within its range");
  std::vector<std::byte> answer(hello.packet().begin(), hello.packet().end());
  for (std::size_t i = 0; i < std::min(bytes.size(), answer.size()); ++i)
    answer[i] ^= bytes[i];
  (void)hello.read(answer);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput in(data, size);
  read_as_others({reinterpret_cast<const std::byte*>(data), size});
  if (const auto head = read_switch_head({reinterpret_cast<const std::byte*>(data), size})) {
    std::vector<std::byte> packet(size);
    write_switch_head(*head, packet);
    require(read_switch_head(packet) == head, "a file that was read is written unchanged");
  }
  Conversation conversation(in);
  for (int turn = 0; turn < 200 && !in.empty(); ++turn)
    conversation.turn();
  return 0;
}
