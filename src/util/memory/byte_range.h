// A range of bytes [begin, end).
#pragma once

#include <cstddef>

namespace dlcp {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace dlcp
