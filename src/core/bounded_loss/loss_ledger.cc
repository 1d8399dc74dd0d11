#include "core/bounded_loss/loss_ledger.h"

#include <algorithm>

#include "util/check.h"

namespace dlcp::core {
namespace {

// Collectives with posted receives at one time: at most one per request.
constexpr std::size_t kPoolsMax = 128;

}  // namespace

std::uint64_t LossLedger::budget(const Licence& licence, std::uint64_t message_bytes) {
  __extension__ using Wide = unsigned __int128;
  const Wide result = licence.result_bytes != 0 ? licence.result_bytes : message_bytes;
  const Wide contributions = result * licence.ranks;
  const Wide share = contributions * licence.budget_ppm / kBudgetScale / licence.hops;
  return static_cast<std::uint64_t>(share);
}

void LossLedger::open(const Licence& licence, std::uint64_t bytes) {
  if (licence.collective <= newest_ || licence.shape == LossShape::kDirect) return;
  check(licence.hops > 0 && licence.ranks > 1, "a licence counts the ranks and hops of its ring");
  newest_ = licence.collective;
  pools_.push_back({licence, budget(licence, bytes), 0});
  if (pools_.size() > kPoolsMax) pools_.pop_front();
}

LossLedger::Pool* LossLedger::find(std::uint64_t collective) {
  for (std::size_t i = pools_.size(); i > 0; --i)
    if (pools_[i - 1].licence.collective == collective) return &pools_[i - 1];
  return nullptr;
}

bool LossLedger::reserve(const Licence& licence, std::uint64_t lost_bytes,
                         std::uint64_t message_bytes) {
  const std::uint64_t most = message_bytes / (kBudgetScale / kBudgetPpmMax);
  if (lost_bytes > most) return false;
  if (licence.shape == LossShape::kDirect)
    return licence.pool != nullptr && licence.pool->spend(lost_bytes);
  Pool* pool = find(licence.collective);
  if (pool == nullptr) return false;
  const Licence& first = pool->licence;
  const bool agrees = first.result_bytes == licence.result_bytes && first.ranks == licence.ranks &&
                      first.hops == licence.hops && first.budget_ppm == licence.budget_ppm;
  if (!agrees) return false;
  const std::uint64_t cost = lost_bytes * licence.cost();
  const std::uint64_t allowed = std::min(pool->budget, budget(first, message_bytes));
  if (cost > allowed || pool->spent > allowed - cost) return false;
  pool->spent += cost;
  check(pool->spent <= pool->budget, "a collective loses no more than its budget");
  return true;
}

}  // namespace dlcp::core
