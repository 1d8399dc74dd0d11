#include "engine/opening/gathering.h"

#include <algorithm>
#include <utility>

#include "engine/host/clock.h"

namespace dlcp::engine {

Gathering::~Gathering() {
  for (const auto& [name, part] : incomplete_) {
    for (const Bundle::Member& member : part.members)
      if (member.connection != nullptr) member.engine->close(member.connection);
  }
}

Result<Bundle> Gathering::accept(const Port& port, const Port& own,
                                 std::span<const core::ListenerId> listeners,
                                 core::ContextId context, Duration patience) {
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    const Lane& lane = port.lanes()[i];
    for (;;) {
      const auto accepted = lane.engine->accept(listeners[i], context);
      if (!accepted) return accepted.error();
      if (accepted.value() == nullptr) break;
      if (auto bundle = add(own, lane, accepted.value())) return std::move(*bundle);
    }
  }
  if (auto error = failure(patience)) return std::move(*error);
  return Bundle();
}

// Returns the bundle if this connection completes it. A connection that cannot be a member is
// closed, which informs its peer.
std::optional<Bundle> Gathering::add(const Port& own, const Lane& lane, Connection* connection) {
  const wire::Membership membership = connection->membership;
  const std::size_t count =
      membership.bundle == 0 ? 1
                             : std::min<std::size_t>(membership.lanes, own.of(*lane.over).size());
  if (count <= 1) return Bundle({{lane.engine, connection}});
  auto& [members, began] = incomplete_[membership.bundle];
  if (members.empty()) {
    began = steady_now();
    members.resize(count);
  }
  if (members.size() != count || membership.member >= count ||
      members[membership.member].connection != nullptr) {
    lane.engine->close(connection);
    return std::nullopt;
  }
  members[membership.member] = {lane.engine, connection};
  const auto is_missing = [](const Bundle::Member& member) { return member.connection == nullptr; };
  if (std::ranges::any_of(members, is_missing)) return std::nullopt;
  Bundle bundle(std::move(members));
  incomplete_.erase(membership.bundle);
  return bundle;
}

std::optional<Error> Gathering::failure(Duration patience) {
  for (const auto& [name, part] : incomplete_) {
    for (const Bundle::Member& member : part.members)
      if (member.connection != nullptr && member.connection->failed.load())
        return member.connection->error;
    gave_up_ = steady_now() - part.began >= patience;
    if (gave_up_)
      return Error{ErrorCode::kRemote,
                   "a peer has connected over some of its lanes, but not over the others within "
                   "the peer timeout",
                   "see its log; its process may have ended"};
  }
  return std::nullopt;
}

}  // namespace dlcp::engine
