#include "nccl/net/properties.h"

#include <mutex>
#include <set>
#include <string>

namespace dlcp::nccl {
namespace {

// NCCL keeps the pointers, so the set is leaked to keep the texts valid until the process ends.
char* lasting(const std::string& text) {
  static constinit std::mutex mutex;
  static constinit std::set<std::string>* texts = nullptr;
  const std::lock_guard lock(mutex);
  if (texts == nullptr) texts = new std::set<std::string>;
  return const_cast<char*>(
      texts->insert(text).first->c_str());  // NCCL's field is char* but is only read
}

}  // namespace

DeviceProperties describe(const datapath::Interface& interface,
                          const engine::MeasuredDevice& measured, const datapath::GpuAccess& gpu) {
  const datapath::InterfaceProperties& from = interface.properties;
  DeviceProperties device;
  device.name = lasting(interface.name);
  device.pci_path = from.pci_path.empty() ? nullptr : lasting(from.pci_path);
  device.guid = from.guid;
  device.speed_mbps = measured.speed_mbps > 0 ? measured.speed_mbps : from.speed_mbps;
  device.latency_us = static_cast<float>(measured.latency_ns) / 1000;
  device.port = from.port;
  // With kPtrCuda, NCCL keeps buffers on the GPU even if it cannot export them as dma-buf; it then
  // registers them by their address (graph/topo.cc, transport/net.cc).
  if (gpu.peer_memory) device.pointers |= kPtrCuda;
  if (gpu.dma_buf) device.pointers |= kPtrDmaBuf;
  return device;
}

DeviceProperties describe_unusable() {
  DeviceProperties device;
  device.name = lasting("unusable");
  return device;
}

}  // namespace dlcp::nccl
