#include "nccl/context.h"

#include <string>
#include <utility>

#include "nccl/log.h"
#include "nccl/summary.h"

namespace dlcp::nccl {
namespace {

constexpr Duration kResetsTake = 100ms;  // four, 6 ms apart, on hosts short of processor

}  // namespace

Context::Context(std::uint64_t comm_id, int traffic_class, bool until_finalize)
    : id_(engine::Registry::of_process().new_context()),
      comm_id_(comm_id),
      traffic_class_(traffic_class),
      until_finalize_(until_finalize),
      next_ticket_(1) {
  description_.communicator = comm_id;
  description_.exact_because = "nobody asked for loss (DLCP_LOSS_BUDGET, trafficClass)";
}

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
    held->second.each([&](engine::Engine& engine) { engine.describe(id_, description_); });
  }
  return held->second;
}

void Context::describe(std::uint32_t budget_ppm, const std::string& exact_because) {
  const std::lock_guard lock(mutex_);
  description_.budget_ppm = budget_ppm;
  description_.exact_because = exact_because;
  show();
}

void Context::describe_rank(int rank, int ranks) {
  const std::lock_guard lock(mutex_);
  description_.rank = rank;
  description_.ranks = static_cast<std::uint32_t>(ranks);
  show();
}

void Context::show() {
  for (const auto& [device, of_device] : engines_) {
    of_device.each([&](engine::Engine& engine) { engine.describe(id_, description_); });
  }
}

void Context::object_opened() {
  const std::lock_guard lock(mutex_);
  ++open_objects_;
}

void Context::object_closed(bool aborted) {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = aborted_ || aborted;
    if (--open_objects_ > 0 || (until_finalize_ && !finished_)) {
      return;
    }
  }
  if (until_finalize_) {
    delete this;
    return;
  }
  release_engines();
}

std::uint32_t Context::keep_pending(const engine::Opening& opening) {
  const std::lock_guard lock(mutex_);
  while (next_ticket_ == 0 || pending_.contains(next_ticket_)) {
    ++next_ticket_;
  }
  pending_.emplace(next_ticket_, opening);
  return next_ticket_++;
}

engine::Opening* Context::find_pending(std::uint32_t ticket, const wire::Invitation& listener) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(ticket);
  return found == pending_.end() || !(found->second.listener() == listener) ? nullptr
                                                                            : &found->second;
}

void Context::forget_pending(std::uint32_t ticket) {
  const std::lock_guard lock(mutex_);
  pending_.erase(ticket);
}

bool Context::finish() {
  std::map<std::uint32_t, engine::Opening> abandoned;
  {
    const std::lock_guard lock(mutex_);
    abandoned.swap(pending_);
    aborted_ = aborted_ || !abandoned.empty();
  }
  for (const auto& [ticket, opening] : abandoned) {
    opening.connection()->engine->close(opening.connection());
  }
  const auto left = static_cast<int>(abandoned.size());
  abandoned.clear();  // they hold on to engines
  release_engines();
  const std::lock_guard lock(mutex_);
  open_objects_ -= left;
  finished_ = true;
  return open_objects_ == 0;
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
  engine::ContextSummary summary;
  for (const auto& [device, of_device] : engines) {
    of_device.each([&](engine::Engine& engine) { summary.merge(engine.summary(id_)); });
  }
  if (std::string line = summary_line(comm_id_, summary); !line.empty()) {
    say({engine::LogLevel::kInfo, std::move(line)});
  }
  const auto setup = engine::Registry::of_process().setup();
  for (const auto& [device, of_device] : engines) {
    of_device.each([&](engine::Engine& engine) {
      if (wait && setup->ok()) {
        engine.linger(setup->value().settings.linger);
      } else {
        engine.linger(kResetsTake, true);  // the process may end now, and one may be lost
      }
    });
  }
}

}  // namespace dlcp::nccl
