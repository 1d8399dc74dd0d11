#include "nccl/collnet/setup/rails.h"

#include <fmt/format.h>

#include <array>

#include "nccl/context/log.h"
#include "nccl/net/rendezvous.h"

namespace dlcp::nccl {

Rails::Rails(Context& context, int device, std::uint32_t wanted) {
  const auto setup = context.setup();
  const auto devices = static_cast<int>(setup->value().devices.size());
  for (int turn = 1; turn < devices && listening_.size() + 1 < wanted; ++turn) {
    const int next = (device + turn) % devices;
    std::array<std::byte, kHandleBytes> bytes{};
    auto opened = open_listener(context, next, bytes);
    if (!opened) {
      say({engine::LogLevel::kWarn,
           fmt::format("direct exchange does not use device {}: {}", next, opened.error().what)});
      continue;
    }
    const auto handle = decode_handle(bytes).value();
    places_[listening_.size()] = {handle.listener, handle.address};
    listening_.push_back({context.port(next).value(), std::move(opened).value()});
  }
}

Rails::~Rails() {
  for (const auto& each : listening_)
    close_listener(*each.comm);
}

void Rails::tell(engine::GroupWord& us) const {
  us.rails = static_cast<std::uint8_t>(listening_.size() + 1);
  us.places = places_;
}

std::vector<engine::GroupRail> Rails::rails() const {
  std::vector<engine::GroupRail> rails;
  for (const auto& each : listening_)
    rails.push_back({each.port, each.comm->port, each.comm->listeners});
  return rails;
}

}  // namespace dlcp::nccl
