// Reads the entries of `switches:`. An entry may describe a range of equal switches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "switch/model/intent.h"
#include "switch/model/intent_file/section.h"
#include "switch/model/site/site_reader.h"

namespace dlcp::fabric {

struct FabricPresets {
  std::optional<std::uint64_t> link_speed;
  double incast_degree = 4;
};

class SwitchReader {
 public:
  // `site` is the top-level section, or null; the other arguments must outlive the reader.
  SwitchReader(Reading& reading, const FabricPresets& presets,
               std::shared_ptr<const DeclaredSite> site)
      : reading_(reading), presets_(presets), site_(std::move(site)) {}

  // Appends one SwitchIntent for each name.
  void read(const YamlNode& node, std::vector<SwitchIntent>& switches);

 private:
  std::vector<PortGroup> read_ports(Section& section);
  std::optional<PortGroup> read_group(const YamlNode& node, const std::string& where);
  void read_buffer(const YamlNode& node, const std::string& where, SwitchIntent& device);
  void read_features(Section& section, SwitchIntent& device);
  // Sets the site of `device`, or its pending import. Returns false if neither is given.
  bool set_site(Section& section, const std::shared_ptr<const DeclaredSite>& declared,
                SwitchIntent& device);

  Reading& reading_;
  const FabricPresets& presets_;
  std::shared_ptr<const DeclaredSite> site_;
};

}  // namespace dlcp::fabric
