#include "synth/input/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "util/text/quantity.h"

namespace dlcp::synth {
namespace {

constexpr std::size_t kNamesMax = 1 << 16;
constexpr std::size_t kNameMax = 128;

// In bits or bytes per second; nullopt if `text` is not a rate.
std::optional<double> parse_rate(std::string text) {
  double bits = 1;
  const auto cut = [&](std::string_view ending) {
    if (!text.ends_with(ending)) return false;
    text.resize(text.size() - ending.size());
    return true;
  };
  if (cut("B/s"))
    bits = 8;
  else if (!cut("bit/s") && !cut("bit") && !cut("bps"))
    cut("b/s");
  constexpr std::string_view kPrefixes = "KMGT";
  if (!text.empty()) {
    const char last = text.back() == 'k' ? 'K' : text.back();
    const auto power = kPrefixes.find(last);
    if (power != std::string_view::npos) {
      text.pop_back();
      bits *= std::pow(1000, static_cast<double>(power) + 1);
    }
  }
  const auto number = parse_number(text);
  if (!number || *number < 0) return std::nullopt;
  return *number * bits / 8;
}

void expand(const YAML::Node& node, const std::string& text, std::vector<std::string>& names) {
  if (text.size() > kNameMax)
    refuse(node, fmt::format("the name has {} characters", text.size()),
           fmt::format("give at most {}", kNameMax));
  const auto open = text.find('[');
  if (open == std::string::npos) {
    names.push_back(text);
    return;
  }
  const auto dash = text.find('-', open), close = text.find(']', open);
  const auto inside = [&](std::size_t from, std::size_t to) {
    return parse_count(std::string_view(text).substr(from, to - from));
  };
  if (dash == std::string::npos || close == std::string::npos || dash > close)
    refuse(node, fmt::format("'{}' is not a range", text), "write h[0-15]");
  const auto first = inside(open + 1, dash), last = inside(dash + 1, close);
  if (!first || !last || *last < *first || *last - *first >= kNamesMax)
    refuse(node, fmt::format("'{}' is not a range", text),
           fmt::format("write h[0-15], with at most {} names", kNamesMax));
  const std::size_t width = text[open + 1] == '0' ? dash - open - 1 : 1;  // h[00-15]: h00
  for (std::uint64_t i = 0; i <= *last - *first; i++) {
    const std::string number = fmt::format("{:0{}}", *first + i, width);
    expand(node, text.substr(0, open) + number + text.substr(close + 1), names);
    if (names.size() > kNamesMax) refuse(node, fmt::format("more than {} names", kNamesMax));
  }
}

}  // namespace

void refuse(const YAML::Node& at, const std::string& what, const std::string& hint) {
  const int line = at.Mark().line;
  throw BadInput(line >= 0 ? fmt::format("line {}: {}", line + 1, what) : what, hint);
}

std::string text_of(const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar()) refuse(node, fmt::format("{} must be a single value", key));
  return node.Scalar();
}

int count_of(const YAML::Node& node, const std::string& key, int least, int most) {
  const auto count = parse_count(text_of(node, key));
  if (!count || *count < static_cast<std::uint64_t>(least) ||
      *count > static_cast<std::uint64_t>(most))
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("give {} to {}", least, most));
  return static_cast<int>(*count);
}

double number_of(const YAML::Node& node, const std::string& key, double least, double most) {
  const auto number = parse_number(text_of(node, key));
  if (!number || *number < least || *number > most)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("give {:g} to {:g}", least, most));
  return *number;
}

bool flag_of(const YAML::Node& node, const std::string& key) {
  bool flag = false;
  text_of(node, key);
  if (!YAML::convert<bool>::decode(node, flag))
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()), "give yes or no");
  return flag;
}

double rate_of(const YAML::Node& node, const std::string& key) {
  const auto rate = parse_rate(text_of(node, key));
  if (!rate)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           "write 100G (bits per second) or 12.5GB/s");
  return *rate;
}

double seconds_of(const YAML::Node& node, const std::string& key) {
  const auto time = parse_duration(text_of(node, key), Duration(1'000'000'000));
  if (!time)
    refuse(node, fmt::format("{} is '{}'", key, node.Scalar()),
           fmt::format("write {}", kDurationExample));
  return static_cast<double>(time->count()) * 1e-9;
}

void only_keys(const YAML::Node& map, std::initializer_list<const char*> keys) {
  if (!map.IsMap()) refuse(map, "this must have keys and values");
  for (const auto& entry : map) {
    const std::string key = text_of(entry.first, "a key");
    if (std::any_of(keys.begin(), keys.end(), [&](const char* one) { return key == one; }))
      continue;
    std::string known;
    for (const char* one : keys)
      known += (known.empty() ? "" : ", ") + std::string(one);
    refuse(entry.first, fmt::format("unknown key '{}'", key),
           fmt::format("the keys are {}", known));
  }
}

std::vector<std::string> names_of(const YAML::Node& node, const std::string& key) {
  std::vector<std::string> names;
  if (!node.IsSequence()) {
    expand(node, text_of(node, key), names);
    return names;
  }
  for (const auto& one : node)
    expand(one, text_of(one, key), names);
  return names;
}

Result<Unit> read_yaml(const std::string& text, const std::string& source,
                       const std::function<void(const YAML::Node&)>& read, const char* what,
                       const char* page) {
  const auto failed = [&](const std::string& fault, const std::string& hint = "") {
    return Error{ErrorCode::kInvalidUsage, fmt::format("{}: {}", source, fault), hint};
  };
  if (text.size() > kTextMax)
    return failed(fmt::format("{} bytes are too much for a {}", text.size(), what));
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap())
      return failed(fmt::format("this is not a {}", what),
                    fmt::format("see {} for the format", page));
    read(root);
  } catch (const BadInput& e) {
    return failed(e.what(), e.hint());
  } catch (const YAML::Exception& e) {
    return failed(e.mark.line >= 0 ? fmt::format("line {}: {}", e.mark.line + 1, e.msg) : e.msg);
  }
  return Unit{};
}

}  // namespace dlcp::synth
