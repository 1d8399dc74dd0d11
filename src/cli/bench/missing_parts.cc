#include "cli/bench/missing_parts.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "collective/reduce.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kMissingMax = 3;
constexpr std::array<std::byte, kLossCellBytes> kZeros{};

class Search {
 public:
  Search(const Reduction& reduction, std::span<const std::byte* const> inputs, std::size_t bytes,
         const std::byte* seen)
      : reduction_(reduction), parts_(inputs.begin(), inputs.end()), bytes_(bytes), seen_(seen) {}

  // Leaves out `count` more, of those from `first` on.
  bool finds(std::size_t first, std::size_t count) {
    if (count == 0) return fits();
    for (std::size_t i = first; i + count <= parts_.size(); ++i) {
      const std::byte* const part = parts_[i];
      parts_[i] = kZeros.data();
      ++missing_;
      const bool found = finds(i + 1, count - 1);
      --missing_;
      parts_[i] = part;
      if (found) return true;
    }
    return false;
  }

 private:
  bool fits() const {
    std::array<std::byte, kLossCellBytes> sum{};
    const auto equal = [&] { return std::memcmp(sum.data(), seen_, bytes_) == 0; };
    collective::reduce(reduction_.type, reduction_.op, parts_, bytes_, sum.data());
    if (equal()) return true;
    const auto present = static_cast<std::uint16_t>(parts_.size() - missing_);
    const collective::CellCounts counts{{&present, 1}, kLossCellBytes};
    collective::reduce_scaled(reduction_.type, parts_, bytes_, counts, sum.data());
    return equal();
  }

  Reduction reduction_;
  std::vector<const std::byte*> parts_;
  std::size_t bytes_;
  const std::byte* seen_;
  std::size_t missing_ = 0;
};

}  // namespace

std::optional<std::size_t> missing_parts(const Reduction& reduction,
                                         std::span<const std::byte* const> inputs,
                                         std::size_t bytes, const std::byte* seen) {
  Search search(reduction, inputs, bytes, seen);
  for (std::size_t count = 0; count <= kMissingMax && count < inputs.size(); ++count)
    if (search.finds(0, count)) return count;
  return std::nullopt;
}

}  // namespace dlcp::cli
