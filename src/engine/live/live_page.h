// The state of a running process that `dlcp stats` displays, in a page of shared memory: one row
// per device, per communicator on a device, and per path. Rows are overwritten a few times a second
// (live_slot.h). In the other direction, a reader can only set two requests.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/counters.h"
#include "engine/live/live_slot.h"
#include "util/statistics/duration_histogram.h"

namespace dlcp::engine {

struct LiveCount {
  LiveText<32> name;  // "rx_packets"
  std::uint64_t value = 0;
};

struct LiveDevice {
  static constexpr std::size_t kCountsMax = 40;

  LiveText<32> name;                                          // "eth0"
  LiveText<64> address;                                       // "10.0.0.1"
  LiveText<32> datapath;                                      // "udp"
  std::array<std::uint64_t, core::kCounterCount> counters{};  // order: core::kCounterRows
  std::array<LiveCount, kCountsMax> datapath_counts{};        // until the first without a name
};

// A communicator on one device, or the sums over all that have ended there.
struct LiveCommunicator {
  std::uint64_t context = 0;       // unique in the process; 0: those that have ended
  std::uint64_t communicator = 0;  // NCCL's hash; 0: NCCL does not report it (before 2.28)
  std::uint32_t device = 0;        // row index of its device
  std::int32_t rank = -1;          // -1: unknown
  std::uint32_t ranks = 0;         // 0: unknown
  std::uint32_t budget_ppm = 0;    // permitted loss; 0: exact
  LiveText<128> exact_because;     // of the last exact transfer that could be licensed
  std::array<std::uint64_t, core::kCounterCount> counters{};
  LiveText<128> all_reduce;  // "direct exchange, 8 ranks", "ring: rank 1 ..."; empty: not requested
  std::uint64_t blocks_whole = 0;     // reduced by this rank in direct exchange,
  std::uint64_t blocks_partial = 0;   // and those of them that lack parts of contributions
  std::uint64_t licensed_bytes = 0;   // received under a licence
  std::uint64_t lost_bytes = 0;       // of these, lost bytes
  std::uint64_t budget_used_ppm = 0;  // largest share of a collective's budget that was used
  DurationHistogram sends;            // from isend until everything is acknowledged
  DurationHistogram receives;         // from irecv until everything is placed
};

// One path of a sending association, written when a reader requests it.
struct LivePath {
  std::uint64_t association = 0;
  std::uint32_t device = 0;
  std::uint16_t path = 0;
  std::uint16_t avoided = 0;   // 1: packets on it are lost
  LiveText<96> tuple;          // "10.0.0.1:49152 > 10.0.0.2:49160"
  std::uint64_t sent = 0;      // packets
  std::uint64_t lost_ppm = 0;  // smoothed
  std::uint64_t delay_ns = 0;  // round trip, smoothed; 0: unknown
};

// The beginning of the page, which never changes between versions: during an upgrade, the tool on a
// host and the plugin in a container may differ, and `dlcp exact` must work then. Everything after
// it may change, together with `layout`.
struct LiveHead {
  static constexpr std::uint64_t kMagic = 0x31766c70636c64;  // "dlcplv1"

  std::uint64_t magic = 0;
  std::uint64_t page_bytes = 0;
  LiveText<32> version;
  LiveText<64> command;
  std::int64_t started_at = 0;  // seconds since 1970

  // Written by the reader.
  std::atomic<std::uint32_t> exact;         // not 0: all transfers are exact while it is set
  std::atomic<std::uint32_t> paths_wanted;  // incremented for each request for paths

  std::uint64_t layout = 0;  // LivePage::kLayout
};
static_assert(sizeof(LiveHead) == 136 && std::is_standard_layout_v<LiveHead>);
static_assert(offsetof(LiveHead, exact) == 120 && offsetof(LiveHead, layout) == 128);

struct LivePage {
  // Rows: one for each lane of a device, and one for each communicator on a lane.
  static constexpr std::size_t kDevicesMax = 256;
  static constexpr std::size_t kCommunicatorsMax = 512;
  static constexpr std::size_t kPathsMax = 2048;  // per process; further paths are not shown

  // Identifies the layout after the head. The revision must be increased by a change of meaning
  // that neither moves a field nor renames a counter.
  static constexpr std::uint64_t kRevision = 1;
  static const std::uint64_t kLayout;

  LiveHead head;
  std::atomic<std::uint32_t> missing;  // lanes and communicators that have no row
  std::array<LiveSlot<LiveDevice>, kDevicesMax> devices;
  std::array<LiveSlot<LiveCommunicator>, kCommunicatorsMax> communicators;
  std::array<LiveSlot<LivePath>, kPathsMax> paths;
};

// FNV-1a over the row sizes and the counters' names.
constexpr std::uint64_t live_layout() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const std::uint64_t value :
       {LivePage::kRevision, std::uint64_t{sizeof(LiveDevice)}, std::uint64_t{sizeof(LivePath)},
        std::uint64_t{sizeof(LiveCommunicator)}, std::uint64_t{LivePage::kDevicesMax},
        std::uint64_t{LivePage::kCommunicatorsMax}, std::uint64_t{LivePage::kPathsMax}})
    mix(value);
  for (const core::CounterRow& row : core::kCounterRows)
    for (const char* letter = row.name; *letter != '\0'; ++letter)
      mix(static_cast<std::uint64_t>(*letter));
  return hash;
}
inline constexpr std::uint64_t LivePage::kLayout = live_layout();

}  // namespace dlcp::engine
