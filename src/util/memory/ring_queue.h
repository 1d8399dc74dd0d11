// A queue in one growing array whose size is a power of two. It can be indexed, and an empty queue
// that was never used needs no memory (std::deque needs 600 bytes, for every path of thousands of
// idle connections).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "util/check.h"

namespace dlcp {

template <class T>
class RingQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  T& operator[](std::size_t index) { return slots_[place(index)]; }
  const T& operator[](std::size_t index) const { return slots_[place(index)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }

  T& push_back(T value) {
    T& slot = add();
    slot = std::move(value);
    return slot;
  }
  // Adds an element that keeps the previous contents of its slot. For hot paths: the processor has
  // to wait if a value is written field by field and then copied in larger units.
  T& add() {
    if (size_ == slots_.size()) grow();
    return slots_[(head_ + size_++) & mask_];
  }

  void pop_front() {
    (*this)[0] = T{};
    head_ = (head_ + 1) & mask_;
    --size_;
  }

  void pop_back() {
    (*this)[size_ - 1] = T{};
    --size_;
  }

  void clear() {
    while (!empty())
      pop_front();
  }

 private:
  std::size_t place(std::size_t index) const {
    check(index < size_, "an index into a queue names one of its elements");
    return (head_ + index) & mask_;
  }
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i)
      larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::uint32_t mask_ = 0;  // slots_.size() - 1, if there are slots
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace dlcp
