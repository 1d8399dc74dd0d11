// Topologies for tests.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.h"
#include "synth/input/links_file.h"
#include "synth/input/taccl_file.h"

namespace dlcp::synth {

inline Topology parsed(const std::string& text) {
  auto topology = parse_links(text, "test");
  INFO((topology.ok() ? std::string() : topology.error().message()));
  REQUIRE(topology.ok());
  return topology.value();
}

// Hosts on one switch, all at 100 Gbit/s.
inline Topology star(int hosts) {
  return parsed(fmt::format(
      "{{ranks: 'h[0-{0}]', switches: [s], links: [{{from: 'h[0-{0}]', to: s, rate: 100G}}]}}",
      hosts - 1));
}

// Leaves of equal hosts under one spine.
inline Topology leaf_spine(int leaves, int per_leaf, const std::string& host_rate,
                           const std::string& uplink_rate) {
  std::string links;
  for (int leaf = 0; leaf < leaves; leaf++)
    links += fmt::format("  - {{from: 'h[{}-{}]', to: l{}, rate: {}}}\n", leaf * per_leaf,
                         (leaf + 1) * per_leaf - 1, leaf, host_rate);
  return parsed(
      fmt::format("ranks: h[0-{}]\nswitches: ['l[0-{}]', spine]\nlinks:\n{}  - {{from: 'l[0-{}]', "
                  "to: spine, rate: {}}}\n",
                  leaves * per_leaf - 1, leaves - 1, links, leaves - 1, uplink_rate));
}

inline std::string sample(const std::string& name) {
  std::ifstream file(std::filesystem::path(DLCP_SYNTH_SAMPLES) / name);
  REQUIRE(file.good());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline Topology taccl(const std::string& box, const std::string& sketch) {
  auto topology = parse_taccl({sample(box), box}, InputFile{sample(sketch), sketch});
  INFO((topology.ok() ? std::string() : topology.error().message()));
  REQUIRE(topology.ok());
  return topology.value();
}

}  // namespace dlcp::synth
