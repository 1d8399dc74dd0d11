// A SONiC leaf whose running configuration is a fixture, and the result of a change.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "switch/vendor_plan.h"

namespace dlcp::test {

using Json = nlohmann::json;

inline const fabric::Vendor& sonic() {
  return *fabric::find_vendor("sonic");
}
inline const std::vector<std::string> kHosts = {"Ethernet0", "Ethernet8"};
inline const std::vector<std::string> kUplinks = {"Ethernet32", "Ethernet40"};

inline Json leaf() {
  return Json::parse(read_text(DLCP_SWITCH_DATA "/sonic/leaf.config_db.json"));
}
inline fabric::SwitchPlan plan_of(const Json& config) {
  return make_plan(import_text(sonic(), config.dump(1)), kHosts, kUplinks);
}
inline fabric::Rendering render_ok(const fabric::SwitchPlan& plan) {
  auto rendering = sonic().render(plan);
  INFO(problems_of(rendering));
  REQUIRE(rendering.problems.empty());
  return rendering;
}
inline Json patched(Json config, const fabric::Rendering& rendering, fabric::FileKind kind) {
  for (const auto& file : rendering.files)
    if (file.kind == kind && file.path.find(".json-") != std::string::npos)
      config = config.patch(Json::parse(file.text));
  return config;
}
inline Json applied(const Json& config, const fabric::Rendering& rendering) {
  return patched(config, rendering, fabric::FileKind::kConfig);
}
inline std::string refusal_of(const Json& config) {
  return problems_of(sonic().render(plan_of(config)));
}

}  // namespace dlcp::test
