#include "cli/stats/pages/pages.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/stats/pages/launch.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

Result<std::optional<unsigned>> user_id(const std::string& text) {
  if (text.empty()) return std::optional<unsigned>{};
  // System calls use 0xffffffff for "unchanged", so it is not a user.
  const auto number = parse_count(text);
  if (number && *number < 0xffffffff) return std::optional(static_cast<unsigned>(*number));
  if (const passwd* entry = getpwnam(text.c_str())) return std::optional(entry->pw_uid);
  return Error{ErrorCode::kInvalidUsage, fmt::format("user '{}' does not exist on this host", text),
               "give a user name of this host or a number"};
}

Result<bool> uses(const Page& page, const std::string& communicator) {
  if (communicator.empty()) return true;
  const auto snapshot = page.read();
  if (!snapshot) return snapshot.error();
  return std::ranges::any_of(snapshot.value().communicators, [&](const auto& row) {
    return fmt::format("{:016x}", row.communicator).starts_with(communicator);
  });
}

bool has_loaded_plugin(const std::filesystem::path& process) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libnccl-net-dlcp.so") != std::string::npos) return true;
  return false;
}

// Also true of a forked child, which has its parent's page and no connection.
bool has_page(const std::filesystem::path& process) {
  std::error_code ignored;
  const std::filesystem::directory_iterator files(process / "fd", ignored);
  return std::any_of(begin(files), end(files),
                     [](const auto& file) { return engine::is_live_page(file.path()); });
}

}  // namespace

Result<ProcessSnapshot> Page::read() const {
  const auto page = view.page();
  if (!page) return page.error();
  ProcessSnapshot snapshot = read_snapshot(place.pid, *page.value());
  snapshot.user = user_name(place.user);
  snapshot.launch = read_launch(place.pid);
  return snapshot;
}

Result<Pages> open_pages(const Selection& selection) {
  const auto user = user_id(selection.user);
  if (!user) return user.error();
  Pages pages;
  std::vector<int> seen;
  for (const engine::LivePlace& place : engine::find_live_pages()) {
    const bool named = selection.pids.empty() ||
                       std::ranges::find(selection.pids, place.pid) != selection.pids.end();
    if (!named || (user.value() && *user.value() != place.user)) continue;
    auto view = engine::open_live_page(place.path);
    if (!view) {
      pages.problems.push_back(fmt::format("process {}: {}", place.pid, view.error().message()));
      seen.push_back(place.pid);
      continue;
    }
    Page page{place, std::move(view).value()};
    const auto used = uses(page, selection.communicator);
    if (!used)
      pages.problems.push_back(
          fmt::format("process {}: {}; to choose it without its communicators, use --pid",
                      place.pid, used.error().what));
    if (!used || used.value()) seen.push_back(place.pid);
    if (used && used.value()) pages.found.push_back(std::move(page));
  }
  for (const int pid : selection.pids)
    if (std::ranges::find(seen, pid) == seen.end())
      pages.problems.push_back(
          fmt::format("process {} does not use the plugin, has DLCP_LIVE_STATS=0, or belongs to "
                      "another user",
                      pid));
  return pages;
}

Result<std::vector<std::string>> without_page(const std::string& user) {
  const auto id = user_id(user);
  if (!id) return id.error();
  std::vector<std::string> lines;
  std::error_code ignored;
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = parse_count(process.path().filename().string());
    struct stat status {};
    if (!pid || stat(process.path().c_str(), &status) != 0) continue;
    if (id.value() && *id.value() != status.st_uid) continue;
    if (has_loaded_plugin(process.path()) && !has_page(process.path()))
      lines.push_back(
          fmt::format("process {} has loaded the plugin but cannot be reached: it has no network "
                      "connection, uses the plugin only as a profiler, or has DLCP_LIVE_STATS=0",
                      *pid));
  }
  return lines;
}

std::vector<ProcessSnapshot> read_all(Pages& pages) {
  std::vector<ProcessSnapshot> processes;
  for (const Page& page : pages.found) {
    auto snapshot = page.read();
    if (snapshot)
      processes.push_back(std::move(snapshot).value());
    else
      pages.problems.push_back(
          fmt::format("process {}: {}", page.pid(), snapshot.error().message()));
  }
  std::ranges::move(missing_rows(processes), std::back_inserter(pages.problems));
  return processes;
}

std::string user_name(unsigned id) {
  const passwd* entry = getpwuid(id);
  return entry != nullptr ? entry->pw_name : std::to_string(id);
}

}  // namespace dlcp::cli
