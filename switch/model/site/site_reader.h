// Reads `site:` sections: the classes that the site declares, and how they complete an imported
// running configuration.
#pragma once

#include "switch/model/intent_file/section.h"
#include "switch/model/site/site.h"

namespace dlcp::fabric {

// A declared site. `has_map`: dscp_map was given, so the section is sufficient without an import.
struct DeclaredSite {
  SiteConfig config;
  int line = 0;
  bool has_map = false, has_default = false, has_pfc = false;
  std::array<bool, kDscpCount> listed{};  // DSCPs of dscp_map
};

DeclaredSite read_site(Reading& reading, const YamlNode& node, const std::string& where);

// Adds the declared permissions, minimum shares and default class to the import. A declared row
// that contradicts the import is an error.
SiteConfig complete_import(Reading& reading, SiteConfig imported, const DeclaredSite* declared,
                           int line);

}  // namespace dlcp::fabric
