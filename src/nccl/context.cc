#include "nccl/context.h"

#include <utility>

namespace dlcp::nccl {

Context::Context(std::uint64_t comm_id, int traffic_class, bool until_finalize)
    : id_(engine::Registry::of_process().new_context()),
      comm_id_(comm_id),
      traffic_class_(traffic_class),
      until_finalize_(until_finalize),
      next_ticket_((id_ << 32) + 1) {}

Context& Context::of_process() {
  static Context* const context = new Context(0, kUndefined, false);
  return *context;
}

Result<engine::Engines> Context::engines(int device) {
  const std::lock_guard lock(mutex_);
  auto held = engines_.find(device);
  if (held == engines_.end()) {
    auto opened = engine::Registry::of_process().engines(device);
    if (!opened) {
      return opened.error();
    }
    held = engines_.emplace(device, std::move(opened).value()).first;
  }
  return held->second;
}

void Context::object_opened() {
  const std::lock_guard lock(mutex_);
  ++open_objects_;
}

void Context::object_closed(bool aborted) {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = aborted_ || aborted;
    if (--open_objects_ > 0 || until_finalize_) {
      return;
    }
  }
  release_engines();
}

std::uint64_t Context::keep_pending(engine::Connection* connection) {
  const std::lock_guard lock(mutex_);
  pending_[next_ticket_] = connection;
  return next_ticket_++;
}

engine::Connection* Context::find_pending(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(ticket);
  return found == pending_.end() ? nullptr : found->second;
}

void Context::forget_pending(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  pending_.erase(ticket);
}

bool Context::finish() {
  std::map<std::uint64_t, engine::Connection*> abandoned;
  {
    const std::lock_guard lock(mutex_);
    abandoned.swap(pending_);
    aborted_ = aborted_ || !abandoned.empty();
  }
  for (const auto& [ticket, connection] : abandoned) {
    connection->engine->close(connection);
  }
  release_engines();
  const std::lock_guard lock(mutex_);
  return open_objects_ == static_cast<int>(abandoned.size());
}

void Context::release_engines() {
  std::map<int, engine::Engines> engines;
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    if (!until_finalize_ && open_objects_ > 0) {
      return;  // somebody has opened another one meanwhile
    }
    engines.swap(engines_);
    wait = !std::exchange(aborted_, false);
  }
  const auto setup = engine::Registry::of_process().setup();
  if (wait && setup->ok()) {
    for (const auto& [device, of_device] : engines) {
      for (const auto& engine : {of_device.roce, of_device.udp}) {
        if (engine != nullptr) {
          engine->linger(setup->value().settings.linger);
        }
      }
    }
  }
}

}  // namespace dlcp::nccl
