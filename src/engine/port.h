// What is open on one device: a lane (an engine) for each carrier that it has, the best first.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/carrier.h"
#include "engine/engine.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Lane {
  const Carrier* over = nullptr;
  std::shared_ptr<Engine> engine;
};

class Port {
 public:
  Port() = default;
  // In the order of carriers(); at least one.
  explicit Port(std::vector<Lane> lanes) : lanes_(std::move(lanes)) {}

  const std::vector<Lane>& lanes() const { return lanes_; }
  // nullptr: the device has none of that carrier.
  const Lane* over(const Carrier& carrier) const;
  // Keeps the engine, which is one of the lanes', alive.
  std::shared_ptr<Engine> holder_of(const Engine* engine) const;
  // Of all lanes, in one.
  wire::EndpointAddress address() const;

 private:
  std::vector<Lane> lanes_;
};

// An address of what both have; nullopt if they are not of one IP address.
std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& first,
                                          const wire::EndpointAddress& second);

}  // namespace dlcp::engine
