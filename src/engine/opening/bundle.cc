#include "engine/opening/bundle.h"

#include <algorithm>
#include <utility>

namespace dlcp::engine {

Bundle::Bundle(std::vector<Member> members) : members_(std::move(members)) {
  for (const Member& member : members_) {
    member.connection->beside.clear();
    for (const Member& other : members_)
      if (other.engine != member.engine) member.connection->beside.push_back(other.engine.get());
  }
}

// Each member counts its losses in a ledger of its own, under its own lock. The messages of a
// collective alternate between members, so each may use the budget of its part of the result;
// together they use no more than a single connection would. If the result is unknown, every message
// is a collective of its own and shares no budget.
core::Licence Bundle::share_of(core::Licence licence) const {
  if (licence.pool == nullptr && licence.result_bytes != 0)
    licence.result_bytes = std::max<std::uint64_t>(licence.result_bytes / members_.size(), 1);
  return licence;
}

// A failure spreads to the other members through their context; until then, no message may be
// accepted.
const Error* Bundle::failure() const {
  const auto failed = std::ranges::find_if(members_, [](const Member& member) {
    return member.connection->failed.load(std::memory_order_acquire);
  });
  return failed == members_.end() ? nullptr : &failed->connection->error;
}

Result<Request*> Bundle::pass_on(Result<Request*> posted) {
  if (posted && posted.value() != nullptr) turn_ = (turn_ + 1) % members_.size();
  return posted;
}

Result<Request*> Bundle::send(const Memory& message, const core::Licence& licence) {
  if (const Error* error = failure()) return *error;
  const Member& member = members_[turn_];
  return pass_on(member.engine->send(*member.connection, message, share_of(licence)));
}

Result<Request*> Bundle::receive(const Memory& buffer, const core::Licence& licence) {
  if (const Error* error = failure()) return *error;
  const Member& member = members_[turn_];
  return pass_on(member.engine->receive(*member.connection, buffer, share_of(licence)));
}

void Bundle::register_memory(const Memory& registered) {
  for (const Member& member : members_)
    member.engine->register_memory(*member.connection, registered);
}

// Registered for all members or for none.
Status Bundle::register_gpu_memory(const datapath::GpuMemory& memory) {
  for (auto at = members_.begin(); at != members_.end(); ++at) {
    const Status done = at->engine->register_gpu_memory(*at->connection, memory);
    if (done) continue;
    while (at != members_.begin()) {
      --at;
      at->engine->release_memory(*at->connection, {memory.bytes.data(), memory.bytes.size(), this,
                                                   core::MemoryKind::kDevice});
    }
    return done;
  }
  return Unit{};
}

// The lanes of all members use one card, and a read by the card follows all of its writes.
Result<Request*> Bundle::flush_gpu(const Memory& memory) {
  const Member& member = members_.front();
  return member.engine->flush_gpu(*member.connection, memory);
}

void Bundle::release_memory(const Memory& registered) {
  for (const Member& member : members_)
    member.engine->release_memory(*member.connection, registered);
}

bool Bundle::close() {
  bool aborted = false;
  for (const Member& member : members_)
    aborted = member.engine->close(member.connection) || aborted;
  members_.clear();
  return aborted;
}

}  // namespace dlcp::engine
