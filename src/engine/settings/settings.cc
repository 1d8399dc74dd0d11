// Combines the config file and the environment with the defaults of the knob table.
#include "engine/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/settings/config_file.h"
#include "engine/settings/knobs.h"

namespace dlcp::engine {
namespace {

constexpr const char* kConfigKnob = "DLCP_CONFIG";
constexpr const char* kClassesKnob = "DLCP_CLASSES";
constexpr const char* kSecretKnob = "DLCP_SECRET_FILE";
constexpr const char* kTokenKnob = "DLCP_HUB_TOKEN_FILE";

// NCCL's own variable, used if it has the same meaning for NCCL's networks and DLCP's is not set.
struct StandIn {
  std::string_view knob;
  const char* variable;
};
constexpr StandIn kStandIns[] = {{"DLCP_IFNAME", "NCCL_SOCKET_IFNAME"},
                                 {"DLCP_HCA", "NCCL_IB_HCA"}};

// NCCL accepts two values and ignores all others.
constexpr const char* kFamilyVariable = "NCCL_SOCKET_FAMILY";

std::optional<datapath::IpFamily> family_of(const std::string* value) {
  if (value == nullptr) return std::nullopt;
  if (*value == "AF_INET") return datapath::IpFamily::kV4;
  if (*value == "AF_INET6") return datapath::IpFamily::kV6;
  return std::nullopt;
}

const std::string* value_of(const Variables& environment, std::string_view name) {
  const auto found = std::ranges::find(environment, name, [](const auto& v) { return v.first; });
  return found == environment.end() ? nullptr : &found->second;
}

Error unknown_name(std::string_view name, std::string_view origin) {
  const Knob* similar = closest_knob(name);
  return {ErrorCode::kInvalidUsage,
          fmt::format("{} ({}) is not a setting of this plugin", name.substr(0, 80), origin),
          similar != nullptr ? fmt::format("did you mean {}?", similar->name)
                             : "'dlcp knobs' lists all settings"};
}

Error unreadable(const char* knob, const std::string& path, const Error& why) {
  return {ErrorCode::kInvalidUsage,
          fmt::format("{} = '{}': cannot be read: {}", knob, path, why.what),
          why.hint.empty() ? "make it readable for this user, or name another file" : why.hint};
}

Result<std::vector<Assignment>> from_file(const Variables& environment, const FileReader& read_file,
                                          std::string& path, std::string& path_origin) {
  const std::string* chosen = value_of(environment, kConfigKnob);
  path = chosen != nullptr ? *chosen : kDefaultConfigFile;
  path_origin = chosen != nullptr ? "environment" : "default";
  if (path.empty()) return std::vector<Assignment>{};
  auto text = read_file(path);
  if (!text) return unreadable(kConfigKnob, path, text.error());
  if (!text.value().has_value()) {
    if (chosen == nullptr) return std::vector<Assignment>{};
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} = '{}' (environment): no such file", kConfigKnob, path),
                 "create it, or unset the variable"};
  }
  auto parsed = parse_config(*text.value(), path);
  if (!parsed) return parsed.error();
  for (auto it = parsed->begin(); it != parsed->end(); ++it) {
    const auto earlier = std::find_if(
        parsed->begin(), it, [&](const Assignment& other) { return other.name == it->name; });
    if (earlier != it) {
      return Error{
          ErrorCode::kInvalidUsage,
          fmt::format("{} is set twice, at {} and {}", it->name, earlier->origin, it->origin),
          "remove one"};
    }
    if (it->name == kConfigKnob) {
      return Error{ErrorCode::kInvalidUsage,
                   fmt::format("{} ({}) cannot be set in a config file", kConfigKnob, it->origin),
                   "set it in the environment"};
    }
  }
  return parsed;
}

// Applies the overrides in `settings.classes_file` to the class table.
Status read_classes(Settings& settings, const FileReader& read_file) {
  const std::string& path = settings.classes_file;
  if (path.empty()) return Unit{};
  const auto text = read_named(kClassesKnob, path, read_file, "create it, or unset the setting");
  if (!text) return text.error();
  const auto errors = apply_class_overrides(text.value(), settings.classes, settings.level_shares);
  if (errors.empty()) return Unit{};
  const ClassOverrideError& first = errors.front();
  return Error{ErrorCode::kInvalidUsage,
               fmt::format("{} = '{}', line {}: {}: '{}'", kClassesKnob, path, first.line,
                           first.what, first.seen.substr(0, 80)),
               fmt::format("expected {}", first.expected)};
}

// Reads the file with a secret that a setting names. Messages never contain the secret.
Status read_secret(const char* knob, const std::string& path, const FileReader& read_file,
                   wire::Key& secret) {
  if (path.empty()) return Unit{};
  const auto text =
      read_named(knob, path, read_file, "create it on every rank: openssl rand -hex 16");
  if (!text) return text.error();
  const auto read = parse_secret(text.value());
  if (!read) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} = '{}': the file has {} characters, but must have 32 "
                             "hexadecimal digits",
                             knob, path, text.value().size()),
                 "create it once, with openssl rand -hex 16, and copy it to every rank"};
  }
  secret = *read;
  return Unit{};
}

}  // namespace

std::optional<wire::Key> parse_secret(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  constexpr std::size_t kWordDigits = 16;
  const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  wire::Key key;
  std::uint64_t* const words[] = {&key.low, &key.high};
  if (text.size() != std::size(words) * kWordDigits) return std::nullopt;
  for (std::size_t i = 0; i < std::size(words); ++i) {
    const char* const at = text.data() + i * kWordDigits;
    const auto [end, code] = std::from_chars(at, at + kWordDigits, *words[i], 16);
    if (code != std::errc() || end != at + kWordDigits) return std::nullopt;
  }
  return key == wire::Key{} ? std::nullopt : std::optional(key);
}

Result<std::string> read_named(const char* knob, const std::string& path,
                               const FileReader& read_file, const char* hint) {
  auto text = read_file(path);
  if (!text) return unreadable(knob, path, text.error());
  if (!text.value().has_value()) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("{} = '{}': no such file", knob, path),
                 hint};
  }
  return std::move(*text.value());
}

Result<Settings> load_settings(const Variables& environment, const FileReader& read_file) {
  std::string path;
  std::string path_origin;
  auto in_force = from_file(environment, read_file, path, path_origin);
  if (!in_force) return in_force.error();
  std::vector<Assignment>& assignments = in_force.value();
  Settings settings;
  for (const auto& [name, value] : environment) {
    if (name == kConfigKnob || name == kFamilyVariable ||
        std::ranges::find(kStandIns, name, &StandIn::variable) != std::end(kStandIns))
      continue;
    if (find_knob(name) == nullptr && closest_knob(name) == nullptr) {
      settings.unknown.push_back(name);
      continue;
    }
    std::erase_if(assignments, [&wanted = name](const Assignment& a) { return a.name == wanted; });
    assignments.push_back({name, value, "environment"});
  }
  settings.family = family_of(value_of(environment, kFamilyVariable));
  for (const Assignment& assignment : assignments)
    if (find_knob(assignment.name) == nullptr)
      return unknown_name(assignment.name, assignment.origin);
  for (const Knob& knob : knobs()) {
    const std::string_view name = knob.name;
    std::string value = name == kConfigKnob ? path : knob.fallback;
    std::string origin = name == kConfigKnob ? path_origin : "default";
    const auto set = std::ranges::find(assignments, name, &Assignment::name);
    if (set != assignments.end()) {
      value = set->value;
      origin = set->origin;
    } else if (const auto* other = std::ranges::find(kStandIns, name, &StandIn::knob);
               other != std::end(kStandIns) && value_of(environment, other->variable) != nullptr) {
      value = *value_of(environment, other->variable);
      origin = other->variable;
    }
    if (auto stored = set_knob(settings, knob, value, origin); !stored) return stored.error();
    settings.effective.push_back({knob.name, std::move(value), std::move(origin)});
  }
  if (settings.loss_budget_ppm > 0 && !settings.loss_data_parallel) {
    return Error{ErrorCode::kInvalidUsage,
                 "DLCP_LOSS_BUDGET would allow loss in every AllReduce and ReduceScatter of the "
                 "job, including activations of tensor parallelism",
                 "if all of them sum or average gradients, set DLCP_LOSS_SCOPE=data-parallel; "
                 "otherwise unset DLCP_LOSS_BUDGET and give single communicators a budget "
                 "(`dlcp traffic-class`)"};
  }
  if (auto read = read_classes(settings, read_file); !read) return read.error();
  if (auto read = read_secret(kSecretKnob, settings.secret_file, read_file, settings.site_secret);
      !read)
    return read.error();
  if (auto read = read_secret(kTokenKnob, settings.hub_token_file, read_file, settings.hub_token);
      !read)
    return read.error();
  return settings;
}

Settings default_settings() {
  const auto no_file = [](const std::string&) -> Result<std::optional<std::string>> {
    return std::optional<std::string>();
  };
  return load_settings({{kConfigKnob, ""}}, no_file).value();
}

std::string unknown_line(const Settings& settings) {
  constexpr std::size_t kNamesMax = 8;
  constexpr std::size_t kNameBytesMax = 80;
  if (settings.unknown.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < std::min(settings.unknown.size(), kNamesMax); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", settings.unknown[i].substr(0, kNameBytesMax));
  if (settings.unknown.size() > kNamesMax)
    names += fmt::format(" and {} more", settings.unknown.size() - kNamesMax);
  return fmt::format(
      "ignoring environment variables that are not settings of this plugin: {}; `dlcp knobs` "
      "lists all settings",
      names);
}

bool is_asked_for(const Settings& settings, std::string_view knob) {
  const auto set = std::ranges::find(settings.effective, knob, &Settings::Effective::name);
  return set != settings.effective.end() && !set->value.empty() && set->origin != "default" &&
         !set->origin.starts_with("NCCL_");
}

std::vector<std::string> effective_lines(const Settings& settings) {
  std::string set;
  std::string defaults;
  for (const auto& one : settings.effective)
    if (one.origin == "default")
      defaults += fmt::format(" {}={}", one.name, one.value.empty() ? "''" : one.value);
    else
      set += fmt::format(" {}={} ({})", one.name, one.value.empty() ? "''" : one.value, one.origin);
  return {fmt::format("settings in force:{}", set.empty() ? " all defaults" : set),
          fmt::format("defaults:{}", defaults)};
}

}  // namespace dlcp::engine
