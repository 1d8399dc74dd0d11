#include "cli/stats/top/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "util/text/duration_text.h"

namespace dlcp::cli {
namespace {

using core::Counter;

const ProcessSnapshot* same_process(const std::vector<ProcessSnapshot>& processes,
                                    const ProcessSnapshot& wanted) {
  const auto found = std::ranges::find_if(processes, [&](const ProcessSnapshot& process) {
    return process.pid == wanted.pid && process.started_at == wanted.started_at;
  });
  return found == processes.end() ? nullptr : &*found;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Counters only grow, unless another device has been assigned to the row.
std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

struct Licensed {
  std::uint64_t bytes = 0, lost = 0;
  DurationHistogram sends;
};

Licensed licensed_on(const ProcessSnapshot& process, std::size_t device) {
  Licensed sums;
  for (const auto& row : process.communicators) {
    if (row.device != device) continue;
    sums.bytes += row.licensed_bytes;
    sums.lost += row.lost_bytes;
    sums.sends.merge(row.sends);
  }
  return sums;
}

std::string percent(double value) {
  return value == 0 ? "0%" : value < 0.0001 ? "<0.01%" : fmt::format("{:.2f}%", 100 * value);
}

std::string time_text(Duration duration) {
  return duration == Duration{0} ? "-" : duration_text(duration);
}

std::string cut(std::string line, std::size_t width) {
  if (line.size() > width) line.resize(width);
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line;
}

// From the launcher, or else from NCCL.
std::string rank_of(const ProcessSnapshot& process) {
  if (!process.launch.rank.empty()) return process.launch.rank;
  const auto known =
      std::ranges::find_if(process.communicators, [](const auto& row) { return row.rank >= 0; });
  return known == process.communicators.end() ? "" : std::to_string(known->rank);
}

void limit(std::vector<std::string>& lines, std::size_t height, std::size_t width) {
  if (height == 0 || lines.size() <= height) return;
  const std::size_t hidden = lines.size() - height + 1;
  lines.resize(height - 1);
  lines.push_back(cut(fmt::format("... {} more", hidden), width));
}

}  // namespace

const char* name_of(TopOrder order) {
  constexpr const char* kNames[] = {"sent", "received", "resent", "p99", "pid"};
  return kNames[static_cast<std::size_t>(order)];
}

std::vector<TopRow> top_rows(const std::vector<ProcessSnapshot>& before,
                             const std::vector<ProcessSnapshot>& after,
                             std::chrono::duration<double> elapsed) {
  std::vector<TopRow> rows;
  for (const ProcessSnapshot& process : after) {
    const ProcessSnapshot* const earlier = same_process(before, process);
    for (std::size_t i = 0; i < process.devices.size(); ++i) {
      const engine::LiveDevice& device = process.devices[i];
      if (device.name.view().empty()) continue;
      const engine::LiveDevice& then = earlier != nullptr ? earlier->devices[i] : device;
      const auto moved = [&](Counter counter) {
        return grown(count_of(then.counters, counter), count_of(device.counters, counter));
      };
      const auto gbps = [&](std::uint64_t bytes) {
        return elapsed.count() > 0 ? static_cast<double>(bytes) * 8e-9 / elapsed.count() : 0;
      };
      const Licensed now = licensed_on(process, i);
      const Licensed was = earlier != nullptr ? licensed_on(*earlier, i) : now;
      TopRow row{process.pid,
                 process.user,
                 rank_of(process),
                 process.launch.job,
                 std::string(device.name.view()),
                 process.command};
      row.sent_gbps = gbps(moved(Counter::kBytesSent));
      row.received_gbps = gbps(moved(Counter::kBytesReceived));
      row.resent_share = share(moved(Counter::kBytesRetransmitted), moved(Counter::kBytesSent));
      row.licensed = grown(was.bytes, now.bytes) > 0;
      row.lost_share = share(grown(was.lost, now.lost), grown(was.bytes, now.bytes));
      row.p99 = now.sends.percentile(0.99);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void sort_rows(std::vector<TopRow>& rows, TopOrder order) {
  const auto key = [order](const TopRow& row) -> double {
    switch (order) {
      case TopOrder::kSent:
        return row.sent_gbps;
      case TopOrder::kReceived:
        return row.received_gbps;
      case TopOrder::kResent:
        return row.resent_share;
      case TopOrder::kP99:
        return static_cast<double>(row.p99.count());
      case TopOrder::kPid:
        return -row.pid;
    }
    return 0;
  };
  std::ranges::stable_sort(rows, [&](const TopRow& a, const TopRow& b) { return key(a) > key(b); });
}

std::vector<std::string> top_lines(const std::vector<TopRow>& rows, std::size_t width,
                                   std::size_t height) {
  double sent = 0;
  double received = 0;
  for (const TopRow& row : rows) {
    sent += row.sent_gbps;
    received += row.received_gbps;
  }
  if (rows.empty())
    return {cut("no running process uses the plugin; only root sees the processes of other users",
                width)};
  std::vector<std::string> lines;
  lines.push_back(cut(fmt::format("{} device{} in use, sent {:.2f} Gb/s, received {:.2f} Gb/s",
                                  rows.size(), rows.size() == 1 ? "" : "s", sent, received),
                      width));
  constexpr const char* kLine = "{:>7} {:<8} {:>4} {:<8} {:>7} {:>7} {:>7} {:>7} {:>7} {}";
  lines.push_back(cut(fmt::format(fmt::runtime(kLine), "PID", "USER", "RANK", "DEVICE", "SENT",
                                  "RECV", "RESENT", "LOST", "P99", "COMMAND"),
                      width));
  for (const TopRow& row : rows) {
    const std::string what = row.job.empty() ? row.command : row.command + " " + row.job;
    lines.push_back(
        cut(fmt::format(fmt::runtime(kLine), row.pid, row.user.substr(0, 8),
                        row.rank.empty() ? "-" : row.rank, row.device.substr(0, 8),
                        fmt::format("{:.2f}", row.sent_gbps),
                        fmt::format("{:.2f}", row.received_gbps), percent(row.resent_share),
                        row.licensed ? percent(row.lost_share) : "-", time_text(row.p99), what),
            width));
  }
  limit(lines, height, width);
  return lines;
}

std::vector<std::string> path_lines(const std::vector<ProcessSnapshot>& processes,
                                    std::size_t width, std::size_t height) {
  std::vector<std::pair<int, engine::LivePath>> paths;
  for (const ProcessSnapshot& process : processes)
    for (const auto& path : process.paths)
      paths.emplace_back(process.pid, path);
  std::ranges::stable_sort(paths, [](const auto& a, const auto& b) {
    return std::pair(a.second.lost_ppm, a.second.delay_ns) >
           std::pair(b.second.lost_ppm, b.second.delay_ns);
  });
  constexpr const char* kLine = "{:>7} {:<44} {:>8} {:>7} {:>8}{}";
  std::vector<std::string> lines = {
      cut(fmt::format(fmt::runtime(kLine), "PID", "PATH", "PACKETS", "LOST", "DELAY", ""), width)};
  for (const auto& [pid, path] : paths) {
    lines.push_back(cut(fmt::format(fmt::runtime(kLine), pid, path.tuple.view(), path.sent,
                                    percent(static_cast<double>(path.lost_ppm) / 1e6),
                                    time_text(Duration(static_cast<std::int64_t>(path.delay_ns))),
                                    path.avoided != 0 ? " !" : ""),
                        width));
  }
  limit(lines, height, width);
  return lines;
}

nlohmann::ordered_json to_json(const std::vector<TopRow>& rows) {
  auto json = nlohmann::ordered_json::array();
  for (const TopRow& row : rows) {
    json.push_back(
        {{"pid", row.pid},
         {"user", row.user},
         {"job", row.job},
         {"rank", row.rank},
         {"command", row.command},
         {"device", row.device},
         {"sent_gbps", row.sent_gbps},
         {"received_gbps", row.received_gbps},
         {"resent_share", row.resent_share},
         {"lost_share", row.licensed ? nlohmann::json(row.lost_share) : nlohmann::json()},
         {"send_p99_s", static_cast<double>(row.p99.count()) / 1e9}});
  }
  return json;
}

}  // namespace dlcp::cli
