// The value of one --plugin: a net plugin, and settings that only this plugin reads.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlcp::cli {

using EnvironmentVariables = std::vector<std::pair<std::string, std::string>>;

struct PluginChoice {
  std::string name;  // path or name, as NCCL_NET_PLUGIN takes it; empty: DLCP's plugin
  EnvironmentVariables environment;
};

// Reads "FILE" or "FILE,NAME=VALUE,NAME=VALUE". A comma separates settings only if an environment
// variable's name in capital letters and '=' follow, so names of files and values may contain
// commas.
PluginChoice parse_plugin_choice(const std::string& text);

// "NAME=VALUE,NAME=VALUE"; empty if the plugin has no settings of its own.
std::string settings_text(const PluginChoice& choice);

// Sets environment variables, and restores their previous values at the end.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const EnvironmentVariables& variables);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace dlcp::cli
