// Reads the entries of `switches:`, each of which may stand for a range of equal switches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switch/model/intent_file.h"
#include "switch/model/section.h"
#include "switch/model/site_reader.h"

namespace dlcp::fabric {

struct FabricPresets {
  std::optional<std::uint64_t> link_speed;
  double incast_degree = 4;
};

class SwitchReader {
 public:
  // `site` is the top's, or nullptr; all must outlive the reader.
  SwitchReader(Reading& reading, const Sources& sources, const FabricPresets& presets,
               const DeclaredSite* site)
      : reading_(reading), sources_(sources), presets_(presets), site_(site) {}

  // Appends one SwitchIntent for each name.
  void read(const YamlNode& node, std::vector<SwitchIntent>& switches);

 private:
  std::vector<PortGroup> read_ports(Section& section);
  std::optional<PortGroup> read_group(const YamlNode& node, const std::string& where);
  void read_buffer(const YamlNode& node, const std::string& where, SwitchIntent& device);
  std::shared_ptr<const SiteConfig> site_of(Section& section, const SwitchIntent& device,
                                            const DeclaredSite* declared);
  std::shared_ptr<const SiteConfig> import(const SwitchIntent& device, const std::string& file,
                                           int line, const DeclaredSite* declared);

  Reading& reading_;
  const Sources& sources_;
  const FabricPresets& presets_;
  const DeclaredSite* site_;
  std::shared_ptr<const SiteConfig> shared_site_;  // of site_, made once
  std::map<std::string, std::shared_ptr<const SiteConfig>> imports_;
};

}  // namespace dlcp::fabric
