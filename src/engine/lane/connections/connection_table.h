// The engine's connections, by the core's name for each.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>

#include "engine/lane/connections/connection.h"

namespace dlcp::engine {

class ConnectionTable {
 public:
  // The address of the connection stays valid until erase().
  Connection& add(Engine& engine, core::ConnectionId id, core::ContextId context, bool sends) {
    auto& place = by_id_[id];
    place = std::make_unique<Connection>();
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

  std::set<core::ContextId> contexts() const {
    std::set<core::ContextId> contexts;
    for (const auto& [id, connection] : by_id_)
      contexts.insert(connection->context);
    return contexts;
  }
  template <class Visit>
  void for_each_of(core::ContextId context, const Visit& visit) {
    for (const auto& [id, connection] : by_id_)
      if (connection->context == context) visit(*connection);
  }

 private:
  std::unordered_map<core::ConnectionId, std::unique_ptr<Connection>> by_id_;
};

}  // namespace dlcp::engine
