// The properties of a device that NCCL asks for, in the form of the newest interface version;
// fill() copies the fields that each version has.
#pragma once

#include <cstdint>

#include "engine/devices/registry.h"
#include "nccl/abi/types.h"
#include "wire/data/data_header.h"

namespace dlcp::nccl {

struct DeviceProperties {
  char* name = nullptr;  // both texts live as long as the process
  char* pci_path = nullptr;
  std::uint64_t guid = 0;
  int speed_mbps = 10000;
  float latency_us = 0;  // one way, as measured, which NCCL adds to its own; 0: unknown
  int port = 0;
  int pointers = kPtrHost;  // ptrSupport
};

inline constexpr const char* kPluginName = "DLCP";
inline constexpr int kConnectionsMax = 1 << 16;
inline constexpr std::size_t kOperationBytesMax = wire::kMessageBytesMax;

DeviceProperties describe(const datapath::Interface& interface,
                          const engine::MeasuredDevice& measured = {},
                          const datapath::GpuAccess& gpu = {});
// The properties of a placeholder device for unusable settings, with which NCCL calls listen and
// gets the error.
DeviceProperties describe_unusable();

template <class Properties>
void fill(Properties& out, const DeviceProperties& device, int index) {
  out = {};
  out.name = device.name;
  out.pciPath = device.pci_path;
  out.guid = device.guid;
  out.ptrSupport = device.pointers;
  out.speed = device.speed_mbps;
  out.port = device.port;
  out.latency = device.latency_us;
  out.maxComms = kConnectionsMax;
  out.maxRecvs = 1;
  // regIsGlobal stays 0, as in NCCL's own transports without GPUDirect. Only NCCL 2.20 to 2.23 read
  // it, and with 1 they open a connection to the own process on every device, to register each
  // buffer of the user, GPU memory, on it.
  if constexpr (requires { out.netDeviceType; }) {
    out.netDeviceType = kNetDeviceHost;
    out.netDeviceVersion = kNetDeviceInvalidVersion;
  }
  if constexpr (requires { out.vProps; }) {
    out.vProps.ndevs = 1;
    out.vProps.devs[0] = index;
    out.maxP2pBytes = kOperationBytesMax;
    out.maxCollBytes = kOperationBytesMax;
  }
  if constexpr (requires { out.maxMultiRequestSize; }) out.maxMultiRequestSize = 1;
  if constexpr (requires { out.railId; }) {
    out.railId = kUndefined;
    out.planeId = kUndefined;
  }
}

}  // namespace dlcp::nccl
