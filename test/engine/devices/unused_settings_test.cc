#include <string>
#include <vector>

#include "catch.h"
#include "engine/devices/carrier.h"
#include "engine/devices/device.h"
#include "engine/devices/roce/roce_access.h"

namespace dlcp::engine::test {
namespace {

Settings settings(const Variables& environment) {
  const auto no_file = [](const std::string&) -> Result<std::optional<std::string>> {
    return std::optional<std::string>();
  };
  return load_settings(environment, no_file).value();
}

std::vector<std::string> lines(const Settings& settings, const Device& device,
                               std::size_t lanes_most) {
  std::vector<std::string> texts;
  for (const LogLine& line : unused_settings(settings, {device}, lanes_most)) {
    CHECK(line.level == LogLevel::kWarn);
    texts.push_back(line.text);
  }
  return texts;
}

}  // namespace

TEST_CASE("settings for RoCE are reported if no device uses it") {
  const Settings set = settings({{"DLCP_GID_INDEX", "3"}, {"DLCP_ROCE_PLACEMENT", "on"}});
  Device device;
  CHECK(lines(set, device, 1) ==
        std::vector<std::string>{
            "DLCP_GID_INDEX=3 has no effect: no device uses RoCE; see `dlcp doctor`",
            "DLCP_ROCE_PLACEMENT=on has no effect: no device uses RoCE; see `dlcp doctor`"});
  device.accesses.push_back(roce_access({}, set));
  CHECK(lines(set, device, 1).empty());
}

TEST_CASE("a bundle is reported if there are no lanes to join") {
  const Settings set = settings({{"DLCP_BUNDLE", "1"}});
  CHECK(lines(set, {}, 1) ==
        std::vector<std::string>{"DLCP_BUNDLE=1 has no effect: each device has one lane; set "
                                 "DLCP_LANES to 2 or more on all ranks"});
  CHECK(lines(set, {}, 2).empty());
}

TEST_CASE("settings that ask for nothing are not reported") {
  const Settings set =
      settings({{"DLCP_GID_INDEX", "-1"}, {"DLCP_ROCE_PLACEMENT", "auto"}, {"DLCP_BUNDLE", "0"}});
  CHECK(lines(set, {}, 1).empty());
}

}  // namespace dlcp::engine::test
