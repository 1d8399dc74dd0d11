// Memory for contributions that wait for others. It is allocated in order and released in that
// order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>

namespace dlcp::collective {

class Staging {
 public:
  explicit Staging(std::span<std::byte> memory) : memory_(memory) {}

  std::size_t size() const { return memory_.size(); }

  // nullopt if the memory is not free at present; if `bytes` exceeds size(), it never will be.
  std::optional<std::span<std::byte>> take(std::size_t bytes) {
    std::size_t at = 0;
    if (!taken_.empty()) {
      const std::size_t oldest = taken_.front().begin;
      const Piece newest = taken_.back();
      at = newest.end;
      if (newest.begin < oldest) {  // the newest piece wrapped around
        if (bytes > oldest - newest.end) return std::nullopt;
      } else if (bytes > memory_.size() - at) {
        if (bytes > oldest) return std::nullopt;
        at = 0;
      }
    } else if (bytes > memory_.size()) {
      return std::nullopt;
    }
    taken_.push_back({at, at + bytes});
    return memory_.subspan(at, bytes);
  }
  // Releases the oldest piece.
  void give_back() { taken_.pop_front(); }

 private:
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  std::span<std::byte> memory_;
  std::deque<Piece> taken_;
};

}  // namespace dlcp::collective
