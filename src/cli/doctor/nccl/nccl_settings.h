// NCCL's own settings as a job would have them: from the environment, then from NCCL_CONF_FILE or
// ~/.nccl.conf, then from /etc/nccl.conf; the first source that sets a variable counts. Also
// whether NCCL will use this plugin with them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/finding.h"

namespace dlcp::cli {

class NcclSettings {
 public:
  struct Setting {
    std::string value;
    std::string origin;  // "environment", or the file's path
  };

  // A variable that is already set keeps its value: earlier sources take precedence.
  void add(const std::string& name, const std::string& value, const std::string& origin);
  // Reads lines NAME=value; ignores comments and other lines, as NCCL does.
  void add_file(std::string_view text, const std::string& path);
  const Setting* find(const std::string& name) const;
  // Copies the settings from files into this process's environment.
  void apply() const;

 private:
  std::map<std::string, Setting> settings_;
};

NcclSettings read_nccl_settings();

// nccl_net and nccl_net_plugin.
Findings judge_choice_of_network(const NcclSettings& settings);

}  // namespace dlcp::cli
