#include "cli/doctor/nccl/nccl_settings.h"

#include <fmt/format.h>
#include <pwd.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace dlcp::cli {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_same_word(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

// `plugin`: one name of the list, or a path: "dlcp", "libnccl-net-dlcp.so",
// "/opt/x/libnccl-net-dlcp.so".
bool names_us(std::string_view plugin) {
  plugin = plugin.substr(plugin.rfind('/') == plugin.npos ? 0 : plugin.rfind('/') + 1);
  return plugin == "dlcp" || plugin == "libnccl-net-dlcp.so";
}

bool lists_us(std::string_view plugins) {
  while (true) {
    const std::size_t comma = plugins.find(',');
    if (names_us(plugins.substr(0, comma))) return true;
    if (comma == plugins.npos) return false;
    plugins = plugins.substr(comma + 1);
  }
}

std::string shown(const char* name, const NcclSettings::Setting& setting) {
  return fmt::format("{}={} ({})", name, setting.value, setting.origin);
}

// Where to change the setting: an environment variable overrides the files.
std::string how_to_set(const char* assignment, const NcclSettings::Setting& setting) {
  return setting.origin == "environment"
             ? fmt::format("export {}", assignment)
             : fmt::format("export {}, or change the line in {}", assignment, setting.origin);
}

Finding judge_net(const NcclSettings& settings) {
  const auto* net = settings.find("NCCL_NET");
  if (net == nullptr) {
    return {"nccl_net", Level::kOk, "NCCL_NET is not set: NCCL takes the first network that works",
            "export NCCL_NET=DLCP, so that a rank that cannot load the plugin fails with a "
            "message"};
  }
  if (is_same_word(net->value, "DLCP"))
    return {"nccl_net", Level::kOk, shown("NCCL_NET", *net), ""};
  return {"nccl_net", Level::kFail,
          shown("NCCL_NET", *net) + ": NCCL uses that network and never calls this plugin",
          how_to_set("NCCL_NET=DLCP", *net)};
}

Finding judge_net_plugin(const NcclSettings& settings) {
  const auto* plugin = settings.find("NCCL_NET_PLUGIN");
  if (plugin == nullptr) {
    return {"nccl_net_plugin", Level::kOk,
            "NCCL_NET_PLUGIN is not set: NCCL loads libnccl-net.so, if there is one",
            "export NCCL_NET_PLUGIN=dlcp in the job"};
  }
  if (lists_us(plugin->value))
    return {"nccl_net_plugin", Level::kOk, shown("NCCL_NET_PLUGIN", *plugin), ""};
  return {"nccl_net_plugin", Level::kFail,
          fmt::format("{}: NCCL {} and never loads this plugin", shown("NCCL_NET_PLUGIN", *plugin),
                      plugin->value == "none" ? "loads no plugin" : "loads another plugin"),
          how_to_set("NCCL_NET_PLUGIN=dlcp", *plugin)};
}

}  // namespace

void NcclSettings::add(const std::string& name, const std::string& value,
                       const std::string& origin) {
  settings_.try_emplace(name, Setting{value, origin});
}

void NcclSettings::add_file(std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == line.npos || equals == 0) continue;
    add(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)), path);
  }
}

const NcclSettings::Setting* NcclSettings::find(const std::string& name) const {
  const auto found = settings_.find(name);
  return found == settings_.end() ? nullptr : &found->second;
}

void NcclSettings::apply() const {
  for (const auto& [name, setting] : settings_)
    if (setting.origin != "environment") ::setenv(name.c_str(), setting.value.c_str(), 0);
}

NcclSettings read_nccl_settings() {
  NcclSettings settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("NCCL_") && equals != text.npos)
      settings.add(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)),
                   "environment");
  }
  const auto* named = settings.find("NCCL_CONF_FILE");
  if (named != nullptr && !named->value.empty()) {
    settings.add_file(text_of(named->value), named->value);
  } else {
    // NCCL gets the home directory from the passwd database; containers often set HOME to another
    // one.
    const char* const home = std::getenv("HOME");
    const passwd* const user = ::getpwuid(::getuid());
    const char* const system_home = user != nullptr ? user->pw_dir : nullptr;
    for (const char* directory : {home, system_home}) {
      if (directory == nullptr) continue;
      const std::string path = std::string(directory) + "/.nccl.conf";
      settings.add_file(text_of(path), path);
    }
  }
  settings.add_file(text_of("/etc/nccl.conf"), "/etc/nccl.conf");
  return settings;
}

Findings judge_choice_of_network(const NcclSettings& settings) {
  return {judge_net_plugin(settings), judge_net(settings)};
}

}  // namespace dlcp::cli
