#include "switch/vendors/cumulus/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "switch/model/yaml_tree.h"

namespace dlcp::fabric::cumulus {
namespace {

constexpr std::size_t kLeavesMax = 400'000;  // 512 ports with everything set are some 10,000

// "swp1-3,swp5" -> swp1 swp2 swp3 swp5; "0-2,7" -> 0 1 2 7; anything else is itself.
std::vector<std::string> expand(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty() && names.size() < 4096) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const auto dash = part.rfind('-');
    std::string_view stem, last;
    int from = 0, to = -1;
    if (dash != std::string_view::npos && dash > 0) {
      const auto digits = part.substr(0, dash).find_last_not_of("0123456789");
      const auto begin = digits == std::string_view::npos ? 0 : digits + 1;
      stem = part.substr(0, begin);
      const auto first = part.substr(begin, dash - begin);
      last = part.substr(dash + 1);
      const bool whole = !first.empty() && first.size() < 6 && !last.empty() && last.size() < 6 &&
                         last.find_first_not_of("0123456789") == std::string_view::npos;
      if (whole) {
        std::from_chars(first.data(), first.data() + first.size(), from);
        std::from_chars(last.data(), last.data() + last.size(), to);
      }
    }
    if (to < from) {
      names.emplace_back(part);
      continue;
    }
    for (int i = from; i <= to && names.size() < 4096; ++i)
      names.push_back(fmt::format("{}{}", stem, i));
  }
  return names;
}

bool has_ranges(std::string_view parent) {
  return parent == "interface" || parent == "dscp" || parent == "pcp" ||
         parent == "switch-priority" || parent == "traffic-class";
}

class Flattener {
 public:
  void add(const std::string& path, std::string_view parent, const YamlNode& node, int depth) {
    if (overflows()) return;
    if (node.kind == YamlNode::Kind::kMap && !node.entries.empty()) {
      for (const auto& entry : node.entries) {
        const auto keys = has_ranges(parent) ? expand(entry.key) : std::vector{entry.key};
        for (const auto& key : keys) {
          if (overflows()) return;
          if (is_ours(depth, path, key))
            add(path.empty() ? key : path + "/" + key, entry.key, entry.value, depth + 1);
        }
      }
      return;
    }
    if (path.empty()) return;
    leaves_[path] = node.kind == YamlNode::Kind::kScalar ? node.text : "{}";
  }
  bool overflows() const { return leaves_.size() > kLeavesMax; }
  Leaves take() { return std::move(leaves_); }

 private:
  // qos/..., acl/..., interface/PORT/{qos,type,link,acl}/..., system/forwarding/ecmp-hash/...;
  // ports are kept by name.
  static bool is_ours(int depth, const std::string& path, std::string_view key) {
    if (depth == 0) return key == "qos" || key == "interface" || key == "system" || key == "acl";
    if (path == "system") return key == "forwarding";
    if (path == "system/forwarding") return key == "ecmp-hash";
    if (depth == 2 && path.compare(0, 10, "interface/") == 0)
      return key == "qos" || key == "type" || key == "link" || key == "acl";
    return true;
  }

  Leaves leaves_;
};

bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") != std::string::npos &&
         text.find_first_of(":#{}[]'\"\n,&*!|>%@` ") == std::string::npos;
}

void append_key(std::string& out, std::size_t depth, const std::string& key) {
  out.append(4 + 2 * depth, ' ');
  out += is_plain(key) ? key : "'" + key + "'";
  out += ':';
}

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const auto slash = path.find('/', at);
    parts.push_back(path.substr(at, slash == std::string::npos ? slash : slash - at));
    if (slash == std::string::npos) return parts;
    at = slash + 1;
  }
}

// What NVUE does where a profile says nothing (Cumulus Linux user guide, "Quality of Service").
Leaves defaults(const char* feature, const std::string& name) {
  Leaves leaves;
  if (feature == std::string_view(kMapping)) {
    leaves["trust"] = "l2";
    leaves["port-default-sp"] = "0";
  }
  if (name != kDefaultProfile) return leaves;
  if (feature == std::string_view(kMarking))
    leaves.insert({{"traffic-class/0/ecn", "enable"},
                   {"traffic-class/0/max-threshold", "1500000"},
                   {"traffic-class/0/min-threshold", "150000"},
                   {"traffic-class/0/probability", "100"},
                   {"traffic-class/0/red", "disable"}});
  if (feature == std::string_view(kScheduler))
    for (int queue = 0; queue < kQueueCount; ++queue) {
      leaves[fmt::format("traffic-class/{}/mode", queue)] = "dwrr";
      leaves[fmt::format("traffic-class/{}/bw-percent", queue)] = queue % 2 == 0 ? "12" : "13";
    }
  return leaves;
}

}  // namespace

bool is_own(std::string_view profile) {
  return site_name(profile).size() != profile.size();
}

std::string_view site_name(std::string_view profile) {
  if (profile.substr(0, 4) != "DLCP") return profile;
  const auto dash = profile.find('-');
  const auto tag = dash == std::string_view::npos ? profile.substr(4) : profile.substr(4, dash - 4);
  const bool ours = dash != std::string_view::npos &&
                    tag.find_first_not_of("r0123456789") == std::string_view::npos &&
                    dash + 1 < profile.size();
  return ours ? profile.substr(dash + 1) : profile;
}

LeafRange leaves_from(const Leaves& leaves, const std::string& prefix) {
  const auto first = leaves.lower_bound(prefix);
  return {first, std::find_if(first, leaves.end(), [&prefix](const auto& leaf) {
            return !leaf.first.starts_with(prefix);
          })};
}

std::string name_at(const std::string& path, std::size_t begin) {
  return path.substr(begin, path.find('/', begin) - begin);
}

std::string value_of(const Leaves& leaves, const std::string& path, std::string otherwise) {
  const auto found = leaves.find(path);
  return found == leaves.end() ? std::move(otherwise) : found->second;
}

std::string profile_of(const Leaves& leaves, const std::string& port, const char* feature) {
  const auto name = value_of(leaves, fmt::format("interface/{}/qos/{}/profile", port, feature));
  return name.empty() ? kDefaultProfile : std::string(site_name(name));
}

Leaves profile(const Leaves& leaves, const char* feature, const std::string& name) {
  Leaves result = defaults(feature, name);
  const auto prefix = fmt::format("qos/{}/{}/", feature, name);
  for (const auto& [path, value] : leaves_from(leaves, prefix))
    result[path.substr(prefix.size())] = value;
  // A queue that turned strict has no percentage any more.
  for (int queue = 0; queue < kQueueCount; ++queue)
    if (value_of(result, fmt::format("traffic-class/{}/mode", queue)) == "strict")
      result.erase(fmt::format("traffic-class/{}/bw-percent", queue));
  return result;
}

Checked<Leaves> read_leaves(const NamedText& yaml) {
  auto tree = parse_yaml(yaml.file, yaml.text);
  Checked<Leaves> result;
  result.problems = std::move(tree.problems);
  for (Problem& problem : result.problems)
    if (problem.hint.empty()) problem.hint = "take it with: nv config show > SWITCH.yaml";
  if (!tree.value) return result;
  Flattener flattener;
  const auto refuse = [&](int line, std::string what) {
    result.problems.push_back({Severity::kError,
                               yaml.file,
                               line,
                               std::move(what),
                               {},
                               "a list of operations, as `nv config show` prints it",
                               "take it with: nv config show > SWITCH.yaml"});
    return result;
  };
  if (tree.value->kind != YamlNode::Kind::kList)
    return refuse(tree.value->line, "the file is not a list of NVUE operations");
  bool any = false;
  for (const auto& operation : tree.value->items) {
    const YamlNode* set = operation.find("set");
    if (set == nullptr) {
      if (operation.find("header") != nullptr) continue;
      return refuse(operation.line, "an operation is neither header nor set");
    }
    any = true;
    flattener.add("", "", *set, 0);
  }
  if (!any) return refuse(tree.value->line, "there is no set operation");
  if (flattener.overflows()) return refuse(0, "the configuration is too large");
  result.value = flattener.take();
  return result;
}

std::string yaml_of(const Leaves& leaves) {
  std::string out = "- set:\n";
  std::vector<std::string> open;
  for (const auto& [path, value] : leaves) {
    auto parts = split(path);
    std::size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same])
      ++same;
    for (std::size_t depth = same; depth < parts.size(); ++depth) {
      append_key(out, depth, parts[depth]);
      const bool word = value == "on" || value == "off";  // booleans in YAML 1.1
      if (depth + 1 == parts.size()) out += word ? " '" + value + "'" : " " + value;
      out += '\n';
    }
    open = std::move(parts);
  }
  return out;
}

}  // namespace dlcp::fabric::cumulus
