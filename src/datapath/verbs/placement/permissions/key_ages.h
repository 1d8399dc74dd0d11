// Keys that were revoked recently. A key must not be given out again while packets that carry it
// may still be in the network (kKeyLifetime): they would be written into the new segment.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "datapath/placement.h"
#include "util/time.h"

namespace dlcp::datapath {

class KeyAges {
 public:
  // Counts from the next on_time(), which may be later than the revocation but not earlier.
  void on_revoked(std::uint32_t key) {
    ++young_[key];
    unstamped_.push_back(key);
  }
  void on_time(Time now) {
    for (const std::uint32_t key : unstamped_)
      by_age_.push_back({now, key});
    unstamped_.clear();
    for (; !by_age_.empty() && now - by_age_.front().revoked_at >= kKeyLifetime;
         by_age_.pop_front()) {
      const auto found = young_.find(by_age_.front().key);
      if (--found->second == 0) young_.erase(found);
    }
  }
  bool is_young(std::uint32_t key) const { return young_.contains(key); }

 private:
  struct Revoked {
    Time revoked_at;
    std::uint32_t key;
  };
  std::unordered_map<std::uint32_t, unsigned> young_;  // key: how often it is listed below
  std::deque<Revoked> by_age_;
  std::vector<std::uint32_t> unstamped_;
};

}  // namespace dlcp::datapath
