#include "datapath/verbs/placement/placement_ability.h"

namespace dlcp::datapath {

std::string to_string(const PlacementAbility& ability) {
  if (!ability.places()) return "no placed packets";
  std::string text = ability.transport == PlacementTransport::kUc ? "UC" : "RC";
  text += ", permissions by memory ";
  text += ability.permissions == PermissionKind::kWindow ? "windows" : "regions";
  const GpuAccess gpu = ability.places_in_gpus();
  if (gpu.dma_buf && ability.permissions == PermissionKind::kWindow)
    text += ", in a dma-buf by regions";
  if (gpu.dma_buf || gpu.peer_memory) {
    text += ", drivers for GPU memory by ";
    text += gpu.dma_buf ? "dma-buf" : "";
    text += gpu.dma_buf && gpu.peer_memory ? " and " : "";
    text += gpu.peer_memory ? "nvidia-peermem" : "";
  }
  return text;
}

}  // namespace dlcp::datapath
