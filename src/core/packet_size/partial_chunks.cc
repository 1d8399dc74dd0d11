#include "core/packet_size/partial_chunks.h"

#include <algorithm>

#include "wire/data/data_header.h"

namespace dlcp::core {
namespace {

constexpr auto kGranule = static_cast<std::uint32_t>(wire::kPayloadGranuleBytes);

std::uint32_t granules_of(std::uint32_t bytes) {
  return (bytes + kGranule - 1) / kGranule;
}

ByteRange range_of(std::size_t begin, std::size_t end, std::uint32_t bytes) {
  return {begin * kGranule, std::min<std::size_t>(end * kGranule, bytes)};
}

}  // namespace

bool is_piece(std::size_t begin, std::size_t end, std::size_t bytes) {
  return begin < end && end <= bytes && begin % kGranule == 0 &&
         (end % kGranule == 0 || end == bytes);
}

std::vector<ByteRange> PartialChunks::add(std::uint32_t chunk, std::uint32_t bytes,
                                          std::uint32_t begin, std::uint32_t end) {
  Bitmap& there = chunks_[chunk];
  if (there.size() == 0) there.reset(granules_of(bytes));
  const std::size_t last = granules_of(end);
  std::vector<ByteRange> fresh;
  for (std::size_t at = there.next_clear(begin / kGranule); at < last;) {
    const std::size_t stop = std::min(there.next_set(at), last);
    fresh.push_back(range_of(at, stop, bytes));
    for (; at < stop; ++at)
      there.set(at);
    at = there.next_clear(at);
  }
  return fresh;
}

bool PartialChunks::whole(std::uint32_t chunk) const {
  const auto found = chunks_.find(chunk);
  return found != chunks_.end() && found->second.next_clear(0) == found->second.size();
}

std::vector<ByteRange> PartialChunks::present(std::uint32_t chunk, std::uint32_t bytes) const {
  std::vector<ByteRange> runs;
  const auto found = chunks_.find(chunk);
  if (found == chunks_.end()) return runs;
  const Bitmap& there = found->second;
  for (std::size_t at = there.next_set(0); at < there.size();) {
    const std::size_t stop = there.next_clear(at);
    runs.push_back(range_of(at, stop, bytes));
    at = there.next_set(stop);
  }
  return runs;
}

std::vector<ByteRange> PartialChunks::missing(std::uint32_t chunk, std::uint32_t bytes) const {
  std::vector<ByteRange> runs;
  std::size_t from = 0;
  for (const ByteRange& run : present(chunk, bytes)) {
    if (run.begin > from) runs.push_back({from, run.begin});
    from = run.end;
  }
  if (from < bytes) runs.push_back({from, bytes});
  return runs;
}

}  // namespace dlcp::core
