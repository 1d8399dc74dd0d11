// The ability of one device to place packets, as its self-test found out (self_test.h). Does not
// need rdma-core: if the build had none, test_placement() returns an error.
#pragma once

#include <cstdint>
#include <string>

#include "datapath/gpu_memory.h"
#include "datapath/verbs/device/roce_ports.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::datapath {

// The type of queue pair that carries placed packets.
enum class PlacementTransport : std::uint8_t {
  kNone,  // neither works: data goes in ordinary packets and is copied
  kUc,    // unreliable connected: a lost packet does not affect others
  kRc,    // reliable connected: the card repeats lost packets
};

// How a permission is revoked.
enum class PermissionKind : std::uint8_t {
  kNone,
  kWindow,  // a memory window is unbound
  kRegion,  // a memory region of its own is deregistered
};

struct PlacementAbility {
  PlacementTransport transport = PlacementTransport::kNone;
  // In memory that is registered by its address. In a dma-buf all permissions are regions.
  PermissionKind permissions = PermissionKind::kNone;
  std::string reason;  // why it cannot do more; empty if there is no better way
  // The GPU memory that its drivers and the self-test allow. dma-buf only if the end of a region's
  // registration is proven to revoke.
  GpuAccess gpu;
  Duration permit_time{};  // median of giving and revoking a permission; 0 if not measured
  Duration region_time{};  // the same by a region, if only permissions in a dma-buf are regions

  bool places() const {
    return transport != PlacementTransport::kNone && permissions != PermissionKind::kNone;
  }
  // The GPU memory into which it can place packets.
  GpuAccess places_in_gpus() const { return places() ? gpu : GpuAccess{}; }
  bool uses_regions() const {
    return permissions == PermissionKind::kRegion || places_in_gpus().dma_buf;
  }
};

// Tests the device against itself, without a peer. It opens the device for itself and takes less
// than a second. Fails if the device cannot be opened. `only_reliable`: RC, although the device may
// have UC.
Result<PlacementAbility> test_placement(const RocePort& port, bool only_reliable = false);

std::string to_string(const PlacementAbility& ability);  // "UC, permissions by memory windows"

}  // namespace dlcp::datapath
