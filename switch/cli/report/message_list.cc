#include "switch/cli/report/message_list.h"

#include <fmt/core.h>

#include <cctype>
#include <map>
#include <set>

namespace dlcp::fabric::cli {
namespace {

constexpr std::size_t kShownMax = 10;  // of one kind
constexpr std::size_t kNamesMax = 3;   // of switches or places

using Group = std::vector<const Message*>;

// Groups of messages in the order of their first members.
std::vector<Group> groups_of(const std::vector<Message>& messages) {
  std::map<std::string, std::size_t> count;
  for (const Message& message : messages)
    if (message.hint.empty()) ++count[message.kind];
  std::map<std::pair<bool, std::string>, std::size_t> known;
  std::vector<Group> groups;
  for (const Message& message : messages) {
    const bool by_kind = message.hint.empty();
    if (by_kind && count[message.kind] <= kShownMax) {
      groups.push_back({&message});
      continue;
    }
    const auto [at, fresh] =
        known.emplace(std::pair(by_kind, by_kind ? message.kind : message.hint), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(&message);
  }
  return groups;
}

// The places of the messages, each once.
std::vector<std::string> places_of(const Group& group) {
  std::vector<std::string> places;
  std::set<std::string> known;
  for (const Message* message : group)
    if (!message->place.empty() && known.insert(message->place).second)
      places.push_back(message->place);
  return places;
}

std::string hint_line(const Group& group) {
  if (group.size() == 1) return fmt::format("  hint: {}\n", group.front()->hint);
  const std::string places = first_names(places_of(group), false);
  return fmt::format("  hint for these {}{}: {}\n", group.size(),
                     places.empty() ? "" : " (" + places + ")", group.front()->hint);
}

std::string text_of(const Group& group, bool all) {
  std::map<std::string, std::size_t> count, shown;
  for (const Message* message : group)
    ++count[message->kind];
  std::string text;
  for (const Message* message : group) {
    const std::size_t number = ++shown[message->kind];
    if (all || number <= kShownMax) text += message->text + '\n';
    if (!all && number == kShownMax && count[message->kind] > kShownMax)
      text += fmt::format("  ... and {} more like these; --all prints them\n",
                          count[message->kind] - kShownMax);
  }
  return group.front()->hint.empty() ? text : text + hint_line(group);
}

}  // namespace

std::string kind_of(const std::string& text) {
  std::string kind, word;
  bool quoted = false, digits = false;
  const auto end_word = [&] {
    kind += digits ? "#" : word;
    word.clear();
    digits = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool opens = c == '\'' && !quoted && (i == 0 || text[i - 1] == ' ');
    if (opens || (c == '\'' && quoted)) {
      end_word();
      quoted = !quoted;
      if (!quoted) kind += '#';
    } else if (c == ' ' && !quoted) {
      end_word();
      kind += ' ';
    } else if (!quoted) {
      word += c;
      digits = digits || std::isdigit(static_cast<unsigned char>(c)) != 0;
    }
  }
  end_word();
  return kind;
}

std::string message_list(const std::vector<Message>& messages, bool all) {
  std::string text;
  for (const Group& group : groups_of(messages))
    text += text_of(group, all);
  return text;
}

std::string first_names(const std::vector<std::string>& names, bool all) {
  const std::size_t shown = all || names.size() <= kNamesMax + 1 ? names.size() : kNamesMax;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return shown == names.size() ? text : text + fmt::format(" and {} more", names.size() - shown);
}

std::vector<SharedReport> joined_reports(const std::vector<NamedReport>& reports) {
  std::map<std::string_view, std::size_t> known;
  std::vector<SharedReport> joined;
  for (const NamedReport& report : reports) {
    const auto [at, fresh] = known.emplace(report.text, joined.size());
    if (fresh) joined.push_back({{}, report.text});
    joined[at->second].names.push_back(report.name);
  }
  return joined;
}

}  // namespace dlcp::fabric::cli
