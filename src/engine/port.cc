#include "engine/port.h"

#include <algorithm>

namespace dlcp::engine {
namespace {

bool same_host(datapath::IpAddress a, datapath::IpAddress b) {
  a.scope = b.scope = 0;
  return a == b;
}

}  // namespace

std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& first,
                                          const wire::EndpointAddress& second) {
  const auto one = datapath::decode_device_address(first);
  const auto other = datapath::decode_device_address(second);
  if (!one || !other || !same_host(one->ip, other->ip)) return std::nullopt;
  return encode(datapath::join(*one, *other));
}

Port Port::pick(std::uint32_t turn) const {
  std::vector<Lane> picked;
  for (auto begin = lanes_.begin(); begin != lanes_.end();) {
    const auto end = std::find_if(begin, lanes_.end(),
                                  [&](const Lane& lane) { return lane.over != begin->over; });
    picked.push_back(*(begin + turn % (end - begin)));
    begin = end;
  }
  return Port(std::move(picked), turns_);
}

const Lane* Port::over(const Carrier& carrier) const {
  const auto found = std::ranges::find(lanes_, &carrier, &Lane::over);
  return found == lanes_.end() ? nullptr : &*found;
}

std::shared_ptr<Engine> Port::holder_of(const Engine* engine) const {
  const auto found = std::ranges::find_if(
      lanes_, [engine](const Lane& lane) { return lane.engine.get() == engine; });
  return found == lanes_.end() ? nullptr : found->engine;
}

wire::EndpointAddress Port::address() const {
  wire::EndpointAddress address = lanes_.back().engine->address();
  for (auto lane = lanes_.rbegin() + 1; lane != lanes_.rend(); ++lane)
    address = join(address, lane->engine->address()).value_or(address);
  return address;
}

}  // namespace dlcp::engine
