#include "engine/lane/connections/listeners.h"

namespace dlcp::engine {

std::set<core::ContextId> Listeners::usable_contexts() const {
  std::set<core::ContextId> contexts;
  for (const auto& [id, listening] : open_)
    if (!listening.failure) contexts.insert(listening.context);
  return contexts;
}

void Listeners::fail(core::ContextId context, const Error& error) {
  for (auto& [id, listening] : open_) {
    if (listening.context == context && !listening.declined) {
      listening.failure = error;
      listening.fails_at = {};
    }
  }
}

bool Listeners::decline(const core::Event& event, Time now) {
  const auto found = open_.find(event.connection);
  if (found == open_.end()) return false;
  Listening& listening = found->second;
  if (listening.declined || (listening.failure && !event.proven)) return false;
  listening.declined = event.proven;
  listening.failure = event.error;
  listening.fails_at = event.proven ? now : now + patience_;
  return true;
}

std::optional<Error> Listeners::failure(core::ListenerId id, Time now) const {
  const auto found = open_.find(id);
  if (found == open_.end() || now < found->second.fails_at) return std::nullopt;
  return found->second.failure;
}

bool Listeners::waits_long(core::ListenerId id, Time now) {
  const auto found = open_.find(id);
  if (found == open_.end() || found->second.failure) return false;
  Listening& listening = found->second;
  listening.waits_since = listening.waits_since.value_or(now);
  if (now - *listening.waits_since < listening.says_after) return false;
  listening.says_after *= 2;
  return true;
}

}  // namespace dlcp::engine
