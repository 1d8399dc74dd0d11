// Reads `site:` sections: what the site declares about its classes, and how that completes what was
// imported from a running configuration.
#pragma once

#include "switch/model/section.h"
#include "switch/model/site.h"

namespace dlcp::fabric {

// A declared site. `has_map`: dscp_map was given, so that the section can stand without an import.
struct DeclaredSite {
  SiteConfig config;
  int line = 0;
  bool has_map = false, has_default = false, has_pfc = false;
  std::array<bool, kDscpCount> listed{};  // DSCPs of dscp_map
};

DeclaredSite read_site(Reading& reading, const YamlNode& node, const std::string& where);

// The import with what was declared beside it: permissions, minimum shares, the default class. A
// declared row that the import contradicts is an error.
SiteConfig complete_import(Reading& reading, SiteConfig imported, const DeclaredSite* declared,
                           int line);

}  // namespace dlcp::fabric
