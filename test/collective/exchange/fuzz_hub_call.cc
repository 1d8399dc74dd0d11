// A hub with messages of any bytes, and valid messages with some bytes changed: it uses memory only
// within its staging, and reports what it refuses.
#include <algorithm>
#include <utility>
#include <vector>

#include "collective/exchange/hub_exchange.h"
#include "fuzz_input.h"

using namespace dlcp;
using namespace dlcp::collective;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

struct Hub final : Mesh {
  Hub() : memory(64 << 10), exchange({.ranks = 3, .rank = 4, .granule = 128, .hubs = 2}, memory) {}

  bool post(const Transfer& transfer) override {
    if (transfer.lane == Transfer::Lane::kContributions) {
      const auto* begin = transfer.memory.data();
      require(begin >= memory.data() && begin + transfer.memory.size() <= &memory.back() + 1,
              "contributions go into the staging");
    }
    if (transfer.sends)
      exchange_done.push_back(transfer);
    else
      posted.push_back(transfer);
    return true;
  }

  void come(FuzzInput& in) {
    const std::size_t at = in.below(posted.size());
    const Transfer transfer = posted[at];
    posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(at));
    std::size_t bytes = transfer.memory.size();
    if (transfer.block == Transfer::kNoBlock) {
      HubCall call{in.below(8), 4 * (1 + in.below(3000)), 0, in.below(4)};
      call.real_bytes = in.below(call.bytes + 1);
      auto word = encode(call);
      if (in.below(8) == 0) word[in.below(word.size())] = std::byte{in.take<std::uint8_t>()};
      if (in.below(16) == 0) bytes = in.below(bytes);
      std::copy_n(word.begin(), bytes, transfer.memory.begin());
    } else if (in.below(4) == 0) {
      bytes = in.below(bytes + 1);
    }
    exchange.on_done(transfer, bytes);
  }

  std::vector<std::byte> memory;
  HubExchange exchange;
  std::vector<Transfer> posted, exchange_done;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput in(data, size);
  Hub hub;
  while (!in.empty() && hub.exchange.disagreement().empty()) {
    hub.exchange.post_to(hub);
    if (hub.posted.empty()) break;
    hub.come(in);
    while (hub.exchange.work()) {
    }
    hub.exchange.post_to(hub);
    for (const Transfer& sent : std::exchange(hub.exchange_done, {}))
      hub.exchange.on_done(sent, sent.memory.size());
  }
  return 0;
}
