// The engine's connections, by the core's name for each. A connection that its caller has closed
// may leave later.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/lane/connections/connection.h"

namespace dlcp::engine {

class ConnectionTable {
 public:
  // The address of the connection stays valid until erase().
  Connection& add(Engine& engine, core::ConnectionId id, core::ContextId context, bool sends) {
    auto& place = by_id_[id];
    place = std::make_unique<Connection>(copy_memory_);
    place->engine = &engine;
    place->id = id;
    place->context = context;
    place->sends = sends;
    return *place;
  }
  // nullptr if the connection was closed or not accepted yet.
  Connection* find(core::ConnectionId id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second.get();
  }
  void erase(core::ConnectionId id) { by_id_.erase(id); }
  CopyMemory& copy_memory() { return copy_memory_; }

  // The connection ends when its copies have arrived: see next_to_end().
  void leave(Connection& connection) {
    connection.leaves = true;
    leaving_.push_back(connection.id);
  }
  // A leaving connection whose copies have all arrived, or that has failed. nullptr: there is none.
  Connection* next_to_end() {
    const auto ready = std::ranges::find_if(leaving_, [this](core::ConnectionId id) {
      const Connection& connection = *by_id_.at(id);
      return connection.copies.empty() || connection.failed.load(std::memory_order_relaxed);
    });
    if (ready == leaving_.end()) return nullptr;
    Connection* const connection = find(*ready);
    leaving_.erase(ready);
    return connection;
  }
  bool any_leaves(core::ContextId context) const {
    return std::ranges::any_of(
        leaving_, [&](core::ConnectionId id) { return by_id_.at(id)->context == context; });
  }

  // The contexts of connections that have not failed.
  std::set<core::ContextId> usable_contexts() const {
    std::set<core::ContextId> contexts;
    for (const auto& [id, connection] : by_id_)
      if (!connection->failed.load(std::memory_order_relaxed)) contexts.insert(connection->context);
    return contexts;
  }
  template <class Visit>
  void for_each_of(core::ContextId context, const Visit& visit) {
    for (const auto& [id, connection] : by_id_)
      if (connection->context == context) visit(*connection);
  }

 private:
  CopyMemory copy_memory_;
  std::vector<core::ConnectionId> leaving_;
  std::unordered_map<core::ConnectionId, std::unique_ptr<Connection>> by_id_;
};

}  // namespace dlcp::engine
