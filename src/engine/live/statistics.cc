#include "engine/live/statistics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <span>

#include "util/system/host_name.h"
#include "util/system/write_file.h"
#include "util/text/file_pattern.h"

namespace dlcp::engine {

void Statistics::add(const core::Counters& counters, std::string_view datapath,
                     const std::vector<datapath::NamedCount>& counts) {
  for (const auto& row : core::kCounterRows)
    core_[static_cast<std::size_t>(row.counter)] += counters[row.counter];
  auto& sums = datapaths_[std::string(datapath)];
  sums.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    sums[i] = {counts[i].name, sums[i].value + counts[i].value};
}

std::string Statistics::json() const {
  std::string out = "{";
  for (const auto& row : core::kCounterRows)
    out += fmt::format("\"{}\": {}, ", row.name, core_[static_cast<std::size_t>(row.counter)]);
  const auto packets = core_[static_cast<std::size_t>(core::Counter::kPacketsSent)];
  const auto bursts = core_[static_cast<std::size_t>(core::Counter::kBurstsSent)];
  out +=
      fmt::format("\"mean_burst\": {:.2f}",
                  bursts == 0 ? 0.0 : static_cast<double>(packets) / static_cast<double>(bursts));
  for (const auto& [datapath, counts] : datapaths_) {
    out += fmt::format(", \"{}\": {{", datapath);
    for (std::size_t i = 0; i < counts.size(); ++i)
      out += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", counts[i].name, counts[i].value);
    out += "}";
  }
  return out + "}\n";
}

int Statistics::write(const std::string& path) const {
  const std::string text = json();
  const std::string name =
      file_name_of(path, {{'p', std::to_string(getpid())}, {'h', host_name()}});
  return write_file(name, std::as_bytes(std::span(text)), 0644);
}

}  // namespace dlcp::engine
