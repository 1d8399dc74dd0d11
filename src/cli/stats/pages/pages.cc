#include "cli/stats/pages/pages.h"

#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/stats/pages/launch.h"
#include "util/text/quantity.h"

namespace dlcp::cli {
namespace {

Result<std::optional<unsigned>> user_id(const std::string& text) {
  if (text.empty()) return std::optional<unsigned>{};
  if (const auto number = parse_count(text)) return std::optional(static_cast<unsigned>(*number));
  if (const passwd* entry = getpwnam(text.c_str())) return std::optional(entry->pw_uid);
  return Error{ErrorCode::kInvalidUsage, fmt::format("user '{}' does not exist on this host", text),
               "give a user name of this host or a number"};
}

bool holds(const Page& page, const std::string& communicator) {
  if (communicator.empty()) return true;
  const auto snapshot = page.read();
  return snapshot.ok() && std::ranges::any_of(snapshot.value().communicators, [&](const auto& row) {
           return fmt::format("{:016x}", row.communicator).starts_with(communicator);
         });
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
  for (const engine::LivePlace& place : engine::find_live_pages()) {
    const bool named = selection.pids.empty() ||
                       std::ranges::find(selection.pids, place.pid) != selection.pids.end();
    if (!named || (user.value() && *user.value() != place.user)) continue;
    auto view = engine::open_live_page(place.path);
    if (!view) {
      pages.problems.push_back(fmt::format("process {}: {}", place.pid, view.error().message()));
      continue;
    }
    Page page{place, std::move(view).value()};
    if (holds(page, selection.communicator)) pages.found.push_back(std::move(page));
  }
  for (const int pid : selection.pids) {
    const bool found =
        std::ranges::any_of(pages.found, [pid](const Page& page) { return page.pid() == pid; });
    if (!found && pages.problems.empty())
      pages.problems.push_back(
          fmt::format("process {} does not use the plugin, or belongs to another user", pid));
  }
  return pages;
}

std::string user_name(unsigned id) {
  const passwd* entry = getpwuid(id);
  return entry != nullptr ? entry->pw_name : std::to_string(id);
}

}  // namespace dlcp::cli
