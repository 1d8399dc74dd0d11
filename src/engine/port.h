// What is open on one device: for each carrier that it has, the best first, one or more lanes. A
// lane is an engine, with sockets or queue pairs, a lock and a thread of its own. The two ends need
// not have equally many.
#pragma once

#include <atomic>
#include <cstdint>
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

// Whose turn it is among a device's lanes.
struct LaneTurns {
  std::atomic<std::uint32_t> listening{0};
  std::atomic<std::uint32_t> connecting{0};
};

class Port {
 public:
  Port() = default;
  // In the order of carriers(); at least one. `turns`: of the device.
  explicit Port(std::vector<Lane> lanes,
                std::shared_ptr<LaneTurns> turns = std::make_shared<LaneTurns>())
      : lanes_(std::move(lanes)), turns_(std::move(turns)) {}

  // The same lanes, another one first of each carrier's every time: for the next listener, which
  // brings one connection with NCCL, and for the next connection.
  Port for_listener() const { return turned(turns_->listening.fetch_add(1)); }
  Port for_connection() const { return turned(turns_->connecting.fetch_add(1)); }
  // The first lane of each carrier alone.
  Port first_of_each() const;

  const std::vector<Lane>& lanes() const { return lanes_; }
  std::vector<Lane> of(const Carrier& carrier) const;
  // Of the other lanes of its carrier.
  std::vector<wire::EndpointAddress> addresses_beside(const Lane& lane) const;
  // The first of that carrier; nullptr: the device has none.
  const Lane* over(const Carrier& carrier) const;
  // Keeps the engine, which is one of the lanes', alive.
  std::shared_ptr<Engine> holder_of(const Engine* engine) const;
  // Of the first lane of each carrier, in one.
  wire::EndpointAddress address() const;

 private:
  Port turned(std::uint32_t turn) const;

  std::vector<Lane> lanes_;
  std::shared_ptr<LaneTurns> turns_;
};

// An address of what both have; nullopt if they are not of one IP address.
std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& first,
                                          const wire::EndpointAddress& second);

}  // namespace dlcp::engine
