#include "datapath/verbs/placement/placement_ability.h"

namespace dlcp::datapath {

std::string to_string(const PlacementAbility& ability) {
  if (!ability.places()) return "no placed packets";
  return std::string(ability.transport == PlacementTransport::kUc ? "UC" : "RC") +
         ", permissions by memory " +
         (ability.permissions == PermissionKind::kWindow ? "windows" : "regions");
}

}  // namespace dlcp::datapath
