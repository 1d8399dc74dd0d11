// Two endpoints that exchange messages, and an attacker who has their keys: an input is a list of
// times and datagrams, forged from nothing or from recorded ones, with correct tags, so that they
// reach the state machine. Connections may fail; but memory that is not posted may never be
// written, no request may complete twice, and time may not stand still.
#include <exception>

#include "fuzz_input.h"
#include "wire/codec.h"
#include "wire/data/data_header.h"
#include "wire/frames/control_frame.h"
#include "world.h"

using namespace dlcp;
using namespace dlcp::test;

namespace {

using Datagram = std::vector<std::byte>;

WorldConfig config_of(FuzzInput& input) {
  WorldConfig config;
  config.network = datapath::sim::single_switch(2, {.paths = 4});
  config.core.requests_max = 1 + input.below(8);
  config.core.eager_bytes = input.below(3) * 3000;
  config.core.unposted_pool_bytes = 20'000;
  config.core.peer_timeout = 200ms;
  config.core.licence_bytes_min = 1;
  if (input.take<bool>()) config.core.protection = wire::Protection::kFull;
  return config;
}

class Attack {
 public:
  explicit Attack(FuzzInput& input) : input_(input), world_(config_of(input)) {
    world_.ledger().allow_failures();
    world_.ledger().expect_content(false);
    world_.set_filter([this](HostIndex to, Datagram& datagram) {
      if (seen_.size() < 200) seen_.push_back({to, datagram});
      return true;
    });
    for (int i = 0; i < 2; ++i) {
      const auto flow = world_.open_flow(i, 1 - i);
      world_.flow(flow).close_when_done = input_.take<bool>();
      for (int k = 0; k < 4; ++k) {
        const auto late = time_from_ns(input_.take<std::uint8_t>() * 10'000);
        const bool licensed = input_.take<bool>();
        const std::size_t bytes = licensed ? 4 * input_.below(3000) : input_.below(9000);
        Message& message = world_.transfer(flow, bytes, {}, late, input_.below(2000));
        if (!licensed) continue;
        core::Licence licence{1, 100'000, 2, 2, 0, 0, gradient::ElementType::kFloat32};
        licence.collective += static_cast<std::uint64_t>(k / 2);
        licence.budget_ppm = core::kBudgetPpmMax;
        message.send_licence = message.receive_licence = licence;
      }
    }
  }

  void run() {
    for (int i = 0; i < 64 && !input_.empty(); ++i) {
      world_.run_for(Duration(input_.take<std::uint8_t>() * 2'000));
      act();
    }
    world_.run_for(1s);
  }

 private:
  struct Seen {
    HostIndex to = 0;
    Datagram datagram;
  };

  void act() {
    if (seen_.empty()) return;
    auto [to, datagram] = seen_[input_.below(seen_.size())];
    switch (input_.take<std::uint8_t>() % 5) {
      case 0:  // some fields overwritten
        for (std::size_t i = 0, count = 1 + input_.below(4); i < count; ++i) {
          std::size_t at = 12 + input_.below(40);
          for (const std::byte byte : input_.take_bytes(1 + input_.below(4)))
            if (at < datagram.size()) datagram[at++] = byte;
        }
        break;
      case 1: {  // another frame type with the same token, and a body of the input's choice
        datagram.resize(wire::kControlHeadBytes);
        datagram[2] = static_cast<std::byte>(1 + input_.below(18));
        const auto body = input_.take_bytes(input_.below(300));
        datagram.insert(datagram.end(), body.begin(), body.end());
        datagram.resize(datagram.size() + wire::kTagBytes);
        break;
      }
      case 2:  // truncated or extended
        datagram.resize(12 + input_.below(1500));
        break;
      case 3:  // unchanged, but later
        break;
      default:
        input_.take<bool>() ? world_.close_sender(input_.below(2))
                            : world_.close_receiver(input_.below(2));
        return;
    }
    make_right(datagram);
    world_.deliver(to, datagram);
  }

  // Corrects the tag, and mostly uses a new number: else most datagrams would be refused at once.
  void make_right(Datagram& datagram) {
    const auto head = wire::decode_head(datagram);
    const auto number = head ? world_.keys().next_number(head->destination) : std::nullopt;
    if (number && head->type != wire::FrameType::kData && input_.below(8) != 0 &&
        datagram.size() >= wire::kControlHeadBytes) {
      wire::store_le(datagram.data() + wire::kFrameHeadBytes,
                     *number + static_cast<std::uint32_t>(sent_++));
    }
    if (datagram.size() >= wire::kDataHeaderBytes || !head || head->type != wire::FrameType::kData)
      world_.keys().reseal(datagram);
  }

  FuzzInput& input_;
  World world_;
  std::vector<Seen> seen_;
  std::size_t sent_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  try {
    Attack(input).run();
  } catch (const std::exception& violation) {
    require(false, violation.what());
  }
  return 0;
}
