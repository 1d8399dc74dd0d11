// An amount that several threads spend together, and never exceed.
#pragma once

#include <atomic>
#include <cstdint>

namespace dlcp {

class SharedBudget {
 public:
  void grant(std::uint64_t amount) { granted_.fetch_add(amount, std::memory_order_relaxed); }
  // False, and nothing is spent, if less is left.
  bool spend(std::uint64_t amount) {
    std::uint64_t spent = spent_.load(std::memory_order_relaxed);
    do {
      const std::uint64_t granted = granted_.load(std::memory_order_relaxed);
      if (amount > granted || spent > granted - amount) return false;
    } while (!spent_.compare_exchange_weak(spent, spent + amount, std::memory_order_relaxed));
    return true;
  }
  std::uint64_t granted() const { return granted_.load(std::memory_order_relaxed); }
  std::uint64_t spent() const { return spent_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> granted_{0};
  std::atomic<std::uint64_t> spent_{0};
};

}  // namespace dlcp
