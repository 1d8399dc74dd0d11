// NCCL's own settings as a job would have them: from the environment, then from NCCL_CONF_FILE or
// ~/.nccl.conf, then from /etc/nccl.conf; the first that names a variable counts. And whether NCCL
// will ask this plugin for its network with them.
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
    std::string origin;  // "environment", or the file
  };

  // A variable that has a value keeps it: earlier sources take precedence.
  void add(const std::string& name, const std::string& value, const std::string& origin);
  // Lines NAME=value; others, and comments, are passed over, as NCCL does.
  void add_file(std::string_view text, const std::string& path);
  const Setting* find(const std::string& name) const;
  // Puts what came from files into this process's environment.
  void apply() const;

 private:
  std::map<std::string, Setting> settings_;
};

NcclSettings read_nccl_settings();

// nccl_net and nccl_net_plugin.
Findings judge_choice_of_network(const NcclSettings& settings);

}  // namespace dlcp::cli
