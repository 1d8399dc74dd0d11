// The parts of the tc target behind its Vendor (tc.cc), and the contents of an import.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switch/vendors/sections.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::tc {

// The imported `tc qdisc show`: the lines of each port, without "dev PORT".
struct Import : ImportedDocument {
  std::map<std::string, std::vector<std::string>> qdiscs;
};

Checked<SiteConfig> import_qdiscs(const NamedText& running);
nlohmann::json script_context(const SwitchPlan& plan);  // input of the template
Rendering render_script(const Sections& templates, const SwitchPlan& plan);
std::vector<VerifyCommand> commands(const SwitchPlan& plan);
Checked<std::vector<Finding>> judge(const SwitchPlan& plan, const NamedText& captured);

}  // namespace dlcp::fabric::tc
