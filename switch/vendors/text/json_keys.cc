#include "switch/vendors/text/json_keys.h"

#include <algorithm>
#include <set>
#include <vector>

namespace dlcp::fabric {
namespace {

std::size_t members_of(const nlohmann::json& value) {
  std::size_t count = value.is_object() ? value.size() : 0;
  if (value.is_structured()) {
    for (const auto& inner : value)
      if (inner.is_structured()) count += members_of(inner);
  }
  return count;
}

// Calls `use` with (begin, end) of every string before a colon; false from it stops the search.
template <class Use>
void each_key(const std::string& text, Use use) {
  for (auto at = text.find('"'); at != std::string::npos; at = text.find('"', at)) {
    const auto begin = ++at;
    while (at < text.size() && text[at] != '"')
      at += text[at] == '\\' ? 2 : 1;
    if (at >= text.size()) return;
    const auto end = at++;
    const auto next = text.find_first_not_of(" \t\r\n", at);
    if (next != std::string::npos && text[next] == ':' && !use(begin, end)) return;
  }
}

}  // namespace

std::optional<KeyTwice> first_key_twice(const std::string& text, const nlohmann::json& parsed) {
  std::size_t written = 0;
  each_key(text, [&written](std::size_t, std::size_t) { return ++written > 0; });
  if (written == members_of(parsed)) return std::nullopt;
  // Finds the key. Objects are identified by their braces, which strings may also contain.
  std::vector<std::set<std::string>> open;
  std::optional<KeyTwice> twice;
  std::size_t seen = 0;
  const auto brackets = [&](std::size_t until) {
    bool quoted = false;
    for (; seen < until; ++seen)
      if (quoted && text[seen] == '\\')
        ++seen;
      else if (text[seen] == '"')
        quoted = !quoted;
      else if (!quoted && text[seen] == '{')
        open.emplace_back();
      else if (!quoted && text[seen] == '}' && !open.empty())
        open.pop_back();
  };
  each_key(text, [&](std::size_t begin, std::size_t end) {
    brackets(begin - 1);
    seen = end + 1;
    const std::string key = text.substr(begin, end - begin);
    if (open.empty() || open.back().insert(key).second) return true;
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    twice = KeyTwice{key, static_cast<int>(line)};
    return false;
  });
  return twice;
}

Checked<nlohmann::json> read_json(const std::string& file, const std::string& text) {
  using Json = nlohmann::json;
  const auto failed = [&file](int line, std::string what, std::string seen, std::string expected) {
    return Checked<Json>::failed(
        {Severity::kError, file, line, std::move(what), std::move(seen), std::move(expected), ""});
  };
  Checked<Json> result;
  try {
    result.value = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto at = std::min(error.byte, text.size());
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = text.find_last_not_of(" \t\r\n");
    const bool cut = last != std::string::npos && error.byte > last + 1;
    return failed(1 + static_cast<int>(std::count(text.begin(), end, '\n')),
                  cut ? "the JSON is incomplete: the file ends too early" : "this is not JSON", "",
                  cut ? "the whole file, to the last brace" : "");
  } catch (const Json::exception& error) {
    return failed(0, std::string("this is not JSON: ") + error.what(), "", "");
  }
  if (const auto twice = first_key_twice(text, *result.value))
    return failed(twice->line, "a key occurs twice", twice->key, "each key once in an object");
  return result;
}

}  // namespace dlcp::fabric
