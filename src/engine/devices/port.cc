#include "engine/devices/port.h"

#include <algorithm>
#include <iterator>

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

Port Port::turned(std::uint32_t turn) const {
  std::vector<Lane> lanes = lanes_;
  for (auto begin = lanes.begin(); begin != lanes.end();) {
    const auto end = std::find_if(begin, lanes.end(),
                                  [&](const Lane& lane) { return lane.over != begin->over; });
    std::rotate(begin, begin + turn % (end - begin), end);
    begin = end;
  }
  return Port(std::move(lanes), turns_);
}

Port Port::first_of_each() const {
  std::vector<Lane> first;
  for (const Lane& lane : lanes_)
    if (first.empty() || first.back().over != lane.over) first.push_back(lane);
  return Port(std::move(first), turns_);
}

std::vector<Lane> Port::of(const Carrier& carrier) const {
  std::vector<Lane> lanes;
  std::ranges::copy_if(lanes_, std::back_inserter(lanes),
                       [&](const Lane& lane) { return lane.over == &carrier; });
  return lanes;
}

std::vector<wire::EndpointAddress> Port::addresses_beside(const Lane& lane) const {
  std::vector<wire::EndpointAddress> addresses;
  for (const Lane& other : lanes_)
    if (other.over == lane.over && other.engine != lane.engine)
      addresses.push_back(other.engine->address());
  return addresses;
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
