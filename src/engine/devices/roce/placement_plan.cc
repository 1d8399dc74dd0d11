#include "engine/devices/roce/placement_plan.h"

#include <fmt/format.h>

namespace dlcp::engine {
namespace {

PlacementPlan copies(std::string_view why) {
  return {{}, fmt::format("received data is copied, because {}", why)};
}

}  // namespace

PlacementPlan plan_placement(const Settings& settings, const datapath::RocePort& port,
                             const PlacementTest& test) {
  if (settings.placement == PlacementChoice::kOff) return copies("DLCP_ROCE_PLACEMENT is off");
  if (settings.protection != wire::Protection::kHeader)
    return copies("placed packets have no tag, which DLCP_CHECKSUM or DLCP_ENCRYPT asks for");
  if (!settings.fault.empty()) return copies("DLCP_FAULT does not apply to placed packets");
  if (!settings.trace_file.empty()) return copies("DLCP_TRACE does not record placed packets");
  if (settings.placement == PlacementChoice::kAuto && datapath::is_software(port))
    return copies("DLCP_ROCE_PLACEMENT is auto and the kernel emulates this card");
  auto tested = test();
  if (!tested) return copies("the card could not be tested: " + tested.error().message());
  if (!tested->places()) return copies("the card cannot place it: " + tested->reason);
  // Over RC the card repeats what is lost, also what the receiver does without.
  const bool is_reliable = tested->transport == datapath::PlacementTransport::kRc;
  return {tested.value(),
          fmt::format("the card places received data ({}){}", to_string(tested.value()),
                      is_reliable ? ", but not of messages that may lose data" : "")};
}

}  // namespace dlcp::engine
