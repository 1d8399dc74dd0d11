// A rank's place in a group that does all-reduces through a CollNet plugin, set up as NCCL does:
// listen, handles through the exchange, one connect that blocks.
#pragma once

#include "cli/bench/collnet_plugin.h"
#include "cli/bench/control.h"

namespace dlcp::cli {

class CollNetGroup {
 public:
  // On the plugin's device `device`. Throws BenchError.
  CollNetGroup(CollNetPlugin& plugin, Control& control, int device);
  ~CollNetGroup();
  CollNetGroup(const CollNetGroup&) = delete;
  CollNetGroup& operator=(const CollNetGroup&) = delete;

  CollNetPlugin& plugin() { return plugin_; }
  void* comm() const { return comm_; }
  double connect_seconds() const { return connect_seconds_; }
  void close();

 private:
  CollNetPlugin& plugin_;
  void* comm_ = nullptr;
  double connect_seconds_ = 0;
};

}  // namespace dlcp::cli
