#include "datapath/name_selection.h"

#include <algorithm>
#include <charconv>

namespace dlcp::datapath {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

}  // namespace

NameSelection::NameSelection(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('^')) {
    is_exclusion_ = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    is_exact_ = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = trimmed(text.substr(0, comma));
    const std::size_t colon = entry.find(':');
    int port = 0;
    if (colon != entry.npos)  // a port that is not a number is ignored, as in NCCL
      std::from_chars(entry.data() + colon + 1, entry.data() + entry.size(), port);
    if (const std::string_view name = entry.substr(0, colon); !name.empty())
      names_.push_back({std::string(name), port});
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
}

bool NameSelection::lists(std::string_view name, int port) const {
  return std::ranges::any_of(
      names_,
      [&](const Entry& entry) {
        const bool same = is_exact_ ? name == entry.name : name.starts_with(entry.name);
        return same && (entry.port == 0 || port == 0 || entry.port == port);
      });
}

bool NameSelection::selects(std::string_view name, int port) const {
  return is_by_name() ? lists(name, port) : !lists(name, port);
}

}  // namespace dlcp::datapath
