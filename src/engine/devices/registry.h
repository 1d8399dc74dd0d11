// The state of the process: its settings, its devices, and the engines on them. Each lane of a
// device has one engine for all communicators, which exists while it has users. The registry is
// never destroyed, because NCCL's threads may still use it while exit() runs destructors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/devices/device.h"
#include "engine/devices/last_delivery.h"
#include "engine/devices/port.h"
#include "engine/host/measured_network.h"
#include "engine/lane/engine.h"
#include "engine/live/statistics.h"
#include "engine/opening/ways.h"
#include "engine/settings/settings.h"
#include "engine/trace/trace_file.h"
#include "util/result.h"

namespace dlcp::engine {

struct Setup {
  Settings settings;
  std::vector<Device> devices;
  std::vector<MeasuredDevice> measured;  // by device; no measurements without DLCP_ORDER
};

// From the environment and this host. An error makes listen fail.
Result<Setup> read_setup();

class Registry {
 public:
  static Registry& of_process();
  explicit Registry(LogSink log, std::function<Result<Setup>()> read = read_setup)
      : read_setup_(std::move(read)), log_(std::move(log)) {}

  // Reads settings and interfaces, unless open engines use the previous ones. Logs the settings in
  // force after each reading.
  void refresh();
  // The result of the last refresh(); valid while the pointer is held.
  std::shared_ptr<const Result<Setup>> setup();

  enum class Extent : std::uint8_t { kAllLanes, kFirstLanes };  // kFirstLanes: one of each carrier
  // The lanes of a device, opened if necessary, and again if they have failed. With its last user a
  // lane's thread and sockets end; after the last lane, statistics are written.
  Result<Port> port(int device, Extent extent = Extent::kAllLanes);
  // Logs once that connections use another carrier than the best one.
  void log_fallback(const std::string& fallback);

  void await_last_delivery() { last_delivery_.wait(); }  // nothing is logged from then on
  // The sum of a counter over all lanes, open or closed.
  std::uint64_t total(core::Counter counter);

  WayBook& ways() { return ways_; }
  // Records that a connection from that device uses `way`; logs it if NCCL assumes another one.
  void note_way(std::size_t device, const wire::EndpointAddress& peer, const Way& way);

  std::uint32_t new_listener() { return next_listener_.fetch_add(1); }  // unique in the process
  core::ContextId new_context() { return next_context_.fetch_add(1); }
  void set_log(LogSink log);  // must be called before any other use

 private:
  using EnginePtr = std::shared_ptr<Engine>;
  struct Opened {
    std::unique_ptr<Engine> engine;
    std::string stats_file;
    std::unique_ptr<TraceFile> trace;  // null if disabled
  };
  struct Running {
    const Carrier* over = nullptr;
    std::size_t number = 0;  // among the lanes of its carrier
    std::size_t count = 1;   // number of lanes of its carrier
    std::weak_ptr<Engine> engine;
    bool failed = false;  // could not be opened; not tried again
  };

  // Opens this lane of the device at `index` if it is not open, or has failed.
  Result<EnginePtr> running(std::size_t index, Running& lane, std::vector<EnginePtr>& failed,
                            std::vector<LogLine>& said);
  // Removes this lane and the later ones of its carrier from the device.
  void give_up(std::size_t index, const Running& lane, const Error& error,
               std::vector<LogLine>& said);
  Result<EnginePtr> open(const Device& device, const Running& lane, std::string& said);
  // Wraps the opened datapath if tracing is enabled.
  void trace(Opened& opened, OpenedDevice& device, const std::string& lane,
             const Settings& settings);
  void on_failure(const Opened& origin, core::ContextId context, const Error& error);
  void retire(std::shared_ptr<Opened> opened);
  void log(LogLevel level, std::string text);
  std::shared_ptr<LiveRows> live_rows(const Settings& settings);

  // Recursive: failing a context on one device may reveal failures of another context there.
  std::recursive_mutex mutex_;
  const std::function<Result<Setup>()> read_setup_;
  LogSink log_;
  std::shared_ptr<const Result<Setup>> setup_;
  std::string logged_description_;  // the description of setup_ that was logged
  struct DeviceLanes {
    std::vector<Running> lanes;  // in the order of carriers()
    std::shared_ptr<LaneTurns> turns = std::make_shared<LaneTurns>();
  };
  std::vector<DeviceLanes> by_device_;
  WayBook ways_;
  bool logged_fallback_ = false, said_unknown_ = false;
  std::size_t traces_ = 0, retiring_ = 0;  // traces started; engines that are being closed
  std::vector<Opened*> open_;
  std::shared_ptr<LiveRows> live_rows_;  // kept, because `dlcp exact` is valid for the process
  Statistics statistics_;
  LastDelivery last_delivery_;
  std::atomic<core::ContextId> next_context_{1};
  std::atomic<std::uint32_t> next_listener_{1};
  std::optional<wire::Key> listeners_key_;  // set once an engine has been opened
};

}  // namespace dlcp::engine
