#include "nccl/context/context.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/host/clock.h"
#include "nccl/context/log.h"
#include "nccl/context/summary.h"

namespace dlcp::nccl {
namespace {

constexpr Duration kResetsTake = 100ms;  // for four, 6 ms apart, on a busy host

}  // namespace

Context::Context(engine::Registry& registry, std::uint64_t comm_id, int communicator_class,
                 Lifetime lifetime)
    : registry_(registry),
      id_(registry.new_context()),
      comm_id_(comm_id),
      communicator_class_(communicator_class),
      lifetime_(lifetime),
      setup_(registry.setup()),
      next_ticket_(1),
      references_(lifetime == Lifetime::kUntilClosed ? 0 : 1) {
  description_.communicator = comm_id;
  description_.exact_because = "loss is not allowed (DLCP_LOSS_BUDGET, trafficClass)";
}

std::shared_ptr<const Result<engine::Setup>> Context::setup() const {
  const std::lock_guard lock(mutex_);
  return setup_;
}

void Context::take_setup() {
  auto setup = registry_.setup();
  const std::lock_guard lock(mutex_);
  setup_ = std::move(setup);
}

Result<engine::Port> Context::port(int device, engine::Registry::Extent extent) {
  const std::lock_guard lock(mutex_);
  const bool is_first_alone = extent == engine::Registry::Extent::kFirstLanes;
  auto held = ports_.find(device);
  if (held == ports_.end() || (!is_first_alone && partly_open_.contains(device))) {
    auto opened = registry_.port(device, extent);
    if (!opened) return opened.error();
    held = ports_.insert_or_assign(device, std::move(opened).value()).first;
    partly_open_.erase(device);
    if (is_first_alone) partly_open_.insert(device);
    show(held->second);
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

void Context::describe_all_reduce(const std::string& words,
                                  const std::shared_ptr<const engine::BlockTally>& blocks) {
  const std::lock_guard lock(mutex_);
  description_.all_reduce = words;
  description_.blocks = blocks;
  show();
}

void Context::show() {
  for (const auto& [device, port] : ports_)
    show(port);
}

void Context::show(const engine::Port& port) {
  engine::ContextDescription description = description_;
  for (const engine::Lane& lane : port.lanes()) {
    lane.engine->describe(id_, description);
    description.blocks = nullptr;  // reported once, so that monitors do not add it for every lane
  }
}

void Context::fail(const Error& error) {
  std::map<int, engine::Port> ports;
  {
    const std::lock_guard lock(mutex_);
    ports = ports_;
  }
  for (const auto& [device, port] : ports)
    for (const engine::Lane& lane : port.lanes())
      lane.engine->fail_context(id_, error, true);
}

void Context::object_opened() {
  was_used_.store(true, std::memory_order_relaxed);
  references_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  ++open_objects_;
}

void Context::object_closed(bool aborted) {
  close_abandoned();
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    aborted_ = aborted_ || aborted;
    is_last = --open_objects_ == 0 && (lifetime_ != Lifetime::kUntilFinalize || finished_);
  }
  if (is_last) release_ports();
  drop_references(1);
}

// The owner's thread and threads that close objects may do this at the same time.
void Context::drop_references(int count) {
  if (references_.fetch_sub(count) == count) delete this;
}

std::uint32_t Context::keep_pending(const engine::Opening& opening) {
  close_abandoned();
  const std::lock_guard lock(mutex_);
  while (next_ticket_ == 0 || pending_.contains(next_ticket_))
    ++next_ticket_;
  pending_[next_ticket_] = {std::make_shared<engine::Opening>(opening), engine::steady_now()};
  return next_ticket_++;
}

std::shared_ptr<engine::Opening> Context::find_pending(std::uint32_t ticket,
                                                       const wire::Invitation& listener) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(ticket);
  if (found == pending_.end() || !(found->second.opening->listener() == listener)) return nullptr;
  found->second.looked_for = engine::steady_now();
  return found->second.opening;
}

// The caller must have counted an object, so that the engines are not released meanwhile.
void Context::close_abandoned() {
  std::vector<Pending> abandoned;
  {
    const std::lock_guard lock(mutex_);
    if (lifetime_ != Lifetime::kThread || !setup_->ok()) return;
    const Time since = engine::steady_now() - setup_->value().settings.peer_timeout;
    std::erase_if(pending_, [&](const auto& entry) {
      const auto& [ticket, pending] = entry;
      // A thread that uses it now has only been slow.
      if (pending.looked_for >= since || pending.opening.use_count() > 1) return false;
      abandoned.push_back(pending);
      return true;
    });
    aborted_ = aborted_ || !abandoned.empty();
  }
  for (const Pending& pending : abandoned)
    pending.opening->bundle().close();
  const auto closed = static_cast<int>(abandoned.size());
  {
    const std::lock_guard lock(mutex_);
    open_objects_ -= closed;
  }
  drop_references(closed);  // the caller has another one
}

void Context::forget_pending(std::uint32_t ticket) {
  const std::lock_guard lock(mutex_);
  pending_.erase(ticket);
}

void Context::finish() {
  std::map<std::uint32_t, Pending> abandoned;
  {
    const std::lock_guard lock(mutex_);
    abandoned.swap(pending_);
    aborted_ = aborted_ || !abandoned.empty();
  }
  for (const auto& [ticket, pending] : abandoned)
    pending.opening->bundle().close();
  const auto closed = static_cast<int>(abandoned.size());
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    open_objects_ -= closed;
    finished_ = true;
    is_last = open_objects_ == 0;
  }
  abandoned.clear();  // they keep engines alive
  if (is_last) release_ports();
  drop_references(closed + 1);
}

void Context::release_ports() {
  std::map<int, engine::Port> ports;
  bool wait = false;
  bool is_over = false;
  core::ContextId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (lifetime_ == Lifetime::kThread && open_objects_ > 0) return;  // they keep them
    ports.swap(ports_);
    partly_open_.clear();
    wait = !std::exchange(aborted_, false);
    is_over = open_objects_ == 0;
    id = id_;
    if (lifetime_ == Lifetime::kThread) id_ = registry_.new_context();
  }
  engine::ContextSummary summary;
  for (const auto& [device, port] : ports)
    for (const engine::Lane& lane : port.lanes())
      summary.merge(lane.engine->summary(id, is_over));
  if (std::string line = summary_line(comm_id_, summary); !line.empty())
    say({engine::LogLevel::kInfo, std::move(line)});
  const auto setup = this->setup();
  if (!setup->ok()) return;
  const engine::Settings& settings = setup->value().settings;
  const Time copies_end = engine::steady_now() + settings.peer_timeout;
  for (const auto& [device, port] : ports) {
    for (const engine::Lane& lane : port.lanes()) {
      if (wait) {
        lane.engine->linger({id, settings.linger, copies_end - engine::steady_now()});
      } else {
        lane.engine->fail_context(id, {ErrorCode::kInternal, "the communicator was aborted", ""});
        lane.engine->linger({id, kResetsTake, {}, true});  // one reset may be lost
      }
    }
  }
}

}  // namespace dlcp::nccl
