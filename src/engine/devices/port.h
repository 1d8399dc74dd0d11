// The open lanes of one device: one or more for each of its carriers, in order of preference. A
// lane is an engine, with sockets or queue pairs, a lock and a thread of its own. The two ends of a
// connection may have different numbers of lanes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/devices/carrier.h"
#include "engine/lane/engine.h"
#include "wire/packet.h"

namespace dlcp::engine {

struct Lane {
  const Carrier* over = nullptr;
  std::shared_ptr<Engine> engine;
};

// The next lane of a device to use.
struct LaneTurns {
  std::atomic<std::uint32_t> listening{0};
  std::atomic<std::uint32_t> connecting{0};
};

class Port {
 public:
  Port() = default;
  // `lanes` is in the order of carriers() and has at least one entry. `turns` belongs to the
  // device.
  explicit Port(std::vector<Lane> lanes,
                std::shared_ptr<LaneTurns> turns = std::make_shared<LaneTurns>())
      : lanes_(std::move(lanes)), turns_(std::move(turns)) {}

  // The same lanes, but each call puts the next lane of each carrier first: for the next listener,
  // which in NCCL serves one connection, and for the next connection.
  Port for_listener() const { return turned(turns_->listening.fetch_add(1)); }
  Port for_connection() const { return turned(turns_->connecting.fetch_add(1)); }
  // Only the first lane of each carrier.
  Port first_of_each() const;

  const std::vector<Lane>& lanes() const { return lanes_; }
  std::vector<Lane> of(const Carrier& carrier) const;
  // The addresses of the other lanes of its carrier.
  std::vector<wire::EndpointAddress> addresses_beside(const Lane& lane) const;
  // The first lane of that carrier; nullptr if the device has none.
  const Lane* over(const Carrier& carrier) const;
  // A pointer that keeps the engine, which must be one of the lanes', alive.
  std::shared_ptr<Engine> holder_of(const Engine* engine) const;
  // The joined addresses of the first lane of each carrier.
  wire::EndpointAddress address() const;

 private:
  Port turned(std::uint32_t turn) const;

  std::vector<Lane> lanes_;
  std::shared_ptr<LaneTurns> turns_;
};

// An address with the locators of both; nullopt if their IP addresses differ.
std::optional<wire::EndpointAddress> join(const wire::EndpointAddress& first,
                                          const wire::EndpointAddress& second);

}  // namespace dlcp::engine
