// The live page of this process and the assignment of its rows: engines are created and destroyed
// on several threads. If there is no free row, the data is not shown, and the page counts it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <mutex>
#include <optional>

#include "engine/live/live_file.h"

namespace dlcp::engine {

class LiveRows {
 public:
  explicit LiveRows(LiveFile file) : file_(std::move(file)) {}

  std::optional<std::size_t> take_device() { return take(devices_); }
  std::optional<std::size_t> take_communicator() { return take(communicators_); }
  std::optional<std::size_t> take_path() { return take(paths_); }
  void give_back_device(std::size_t row) { give_back(devices_, page().devices, row); }
  void give_back_communicator(std::size_t row) {
    give_back(communicators_, page().communicators, row);
  }
  void give_back_path(std::size_t row) { give_back(paths_, page().paths, row); }

  // Adds to the number of lanes and communicators that have no row.
  void add_missing(std::uint32_t more) { page().missing.fetch_add(more); }

  LivePage& page() { return file_.page(); }

 private:
  template <std::size_t N>
  std::optional<std::size_t> take(std::bitset<N>& taken) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < N; ++i) {
      if (!taken[i]) {
        taken[i] = true;
        return i;
      }
    }
    return std::nullopt;
  }
  template <std::size_t N, class Slots>
  void give_back(std::bitset<N>& taken, Slots& slots, std::size_t row) {
    const std::lock_guard lock(mutex_);
    slots[row].clear();
    taken[row] = false;
  }

  LiveFile file_;
  std::mutex mutex_;
  std::bitset<LivePage::kDevicesMax> devices_;
  std::bitset<LivePage::kCommunicatorsMax> communicators_;
  std::bitset<LivePage::kPathsMax> paths_;
};

}  // namespace dlcp::engine
