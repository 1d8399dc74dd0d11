#include "cli/stats/pages/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "util/text/printable.h"

namespace dlcp::cli {
namespace {

template <class Text>
void clean(Text& text) {
  text = printable(text.view());
}

}  // namespace

ProcessSnapshot read_snapshot(int pid, const engine::LivePage& page) {
  ProcessSnapshot process;
  process.pid = pid;
  process.command = printable(page.head.command.view());
  process.version = printable(page.head.version.view());
  process.started_at = page.head.started_at;
  process.made_exact = page.head.exact.load() != 0;
  process.missing = page.missing.load();
  for (const auto& slot : page.devices) {
    auto row = slot.read().value_or(engine::LiveDevice{});
    clean(row.name);
    clean(row.address);
    clean(row.datapath);
    for (engine::LiveCount& count : row.datapath_counts)
      clean(count.name);
    process.devices.push_back(row);
  }
  for (const auto& slot : page.communicators) {
    if (auto row = slot.read()) {
      clean(row->exact_because);
      clean(row->all_reduce);
      process.communicators.push_back(*row);
    }
  }
  std::sort(process.communicators.begin(), process.communicators.end(),
            [](const auto& a, const auto& b) {
              return std::tie(a.context, a.device) < std::tie(b.context, b.device);
            });
  for (const auto& slot : page.paths) {
    if (auto row = slot.read()) {
      clean(row->tuple);
      process.paths.push_back(*row);
    }
  }
  std::sort(process.paths.begin(), process.paths.end(), [](const auto& a, const auto& b) {
    return std::tie(a.device, a.association, a.path) < std::tie(b.device, b.association, b.path);
  });
  return process;
}

std::string ProcessSnapshot::device_name(std::uint32_t device) const {
  const bool known = device < devices.size() && !devices[device].name.view().empty();
  return known ? std::string(devices[device].name.view()) : "?";
}

std::vector<std::string> missing_rows(const std::vector<ProcessSnapshot>& processes) {
  std::vector<std::string> lines;
  for (const ProcessSnapshot& process : processes)
    if (process.missing != 0)
      lines.push_back(
          fmt::format("process {}: {} of its lanes and communicators are not shown, so its sums "
                      "are too low; use fewer lanes (DLCP_LANES) or fewer communicators",
                      process.pid, process.missing));
  return lines;
}

std::uint64_t count_of(const std::array<std::uint64_t, core::kCounterCount>& counters,
                       core::Counter counter) {
  return counters[static_cast<std::size_t>(counter)];
}

}  // namespace dlcp::cli
