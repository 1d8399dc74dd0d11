// Memory in which contributions wait for each other: taken in order, given back in the same order.
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

  // nullopt: not until something has been given back, or never if it is more than size().
  std::optional<std::span<std::byte>> take(std::size_t bytes) {
    std::size_t at = 0;
    if (!taken_.empty()) {
      const std::size_t oldest = taken_.front().begin;
      const Piece newest = taken_.back();
      at = newest.end;
      if (newest.begin < oldest) {  // it has gone round
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
  // The oldest piece that is taken.
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
