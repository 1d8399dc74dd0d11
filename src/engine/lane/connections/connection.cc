// The request table. A slot is found by its index; the name contains a generation, so that stale
// names find nothing.
#include "engine/lane/connections/connection.h"

#include <algorithm>
#include <utility>

#include "engine/lane/engine.h"

namespace dlcp::engine {
namespace {

constexpr unsigned kIndexBits = 8;
static_assert(Connection::kRequestsMax <= std::size_t{1} << kIndexBits);

}  // namespace

void Connection::drive_beside() const {
  for (Engine* other : beside)
    if (other->drive()) return;
}

Request* Connection::free_slot() {
  for (std::size_t tried = 0; tried < requests.size(); ++tried) {
    Request& request = requests[next_slot];
    next_slot = (next_slot + 1) % requests.size();
    if (request.state.load(std::memory_order_acquire) == Request::State::kFree) {
      request.name += 1u << kIndexBits;
      return &request;
    }
  }
  if (requests.size() == kRequestsMax) return nullptr;
  Request& request = requests.emplace_back();
  request.connection = this;
  request.name = requests.size() - 1;
  return &request;
}

Request* Connection::find(core::RequestId name) {
  const std::size_t index = name & ((1u << kIndexBits) - 1);
  if (index >= requests.size() || requests[index].name != name) return nullptr;
  return &requests[index];
}

bool Connection::uses(const Memory& registered) const {
  const std::byte* begin = registered.data;
  const std::byte* end = begin + registered.bytes;
  return std::any_of(requests.begin(), requests.end(), [&](const Request& request) {
    if (request.state.load(std::memory_order_relaxed) != Request::State::kPending) return false;
    if (request.registration != nullptr) return request.registration == registered.registration;
    const std::span<const std::byte> used = request.memory;
    return !used.empty() && used.data() < end && begin < used.data() + used.size();
  });
}

void Connection::count_lost(const core::Licence& licence, std::size_t bytes) {
  if (std::exchange(lossy_collective, licence.collective) != licence.collective)
    contributions_lost = 0;
  contributions_lost += bytes * licence.cost();
}

void Connection::fail(const Error& reason) {
  if (!failed.load(std::memory_order_relaxed)) {
    error = reason;
    failed.store(true, std::memory_order_release);
  }
  for (Request& request : requests) {
    auto pending = Request::State::kPending;
    request.state.compare_exchange_strong(pending, Request::State::kFailed,
                                          std::memory_order_release, std::memory_order_relaxed);
  }
}

}  // namespace dlcp::engine
