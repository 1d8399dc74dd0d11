// What this process has: its settings, its devices, and the engines that are open on them. One
// engine per device and way to carry packets, shared by all communicators; it lives as long as
// anybody holds it. The process's registry is never destroyed: NCCL's threads may still be inside
// while exit runs destructors.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device.h"
#include "engine/engine.h"
#include "engine/measured_network.h"
#include "engine/port.h"
#include "engine/settings.h"
#include "engine/statistics.h"
#include "engine/trace_file.h"
#include "engine/ways.h"
#include "util/result.h"

namespace dlcp::engine {

struct Setup {
  Settings settings;
  std::vector<Device> devices;
  std::vector<MeasuredDevice> measured;  // by device; nothing known without DLCP_ORDER
};

class Registry {
 public:
  static Registry& of_process();
  explicit Registry(LogSink log) : log_(std::move(log)) {}

  // Reads settings and interfaces, unless engines are open that run on what was read before; says
  // in the log what is in force whenever it has read.
  void refresh();
  // The outcome of the last refresh(); stays valid while it is held.
  std::shared_ptr<const Result<Setup>> setup();

  // The lanes of a device, opened if need be. Letting go of the last user of one joins its thread
  // and closes its sockets; after the last of all, statistics are written.
  Result<Port> port(int device);
  // Says in the log, once, that connections go over another carrier than they might.
  void say_fallback(const std::string& fallback);

  WayBook& ways() { return ways_; }
  // A connection from that device has come about by `way`: logs it if NCCL assumes another.
  void note_way(std::size_t device, const wire::EndpointAddress& peer, const Way& way);

  // The numbers of listeners, over all devices.
  std::uint32_t new_listener() { return next_listener_.fetch_add(1); }
  core::ContextId new_context() { return next_context_.fetch_add(1); }
  // Where log lines go; set before the first use of anything else.
  void set_log(LogSink log);

 private:
  struct Opened {
    std::unique_ptr<Engine> engine;
    std::string stats_file;
    std::unique_ptr<TraceFile> trace;  // null: not asked for
  };

  struct Running {
    const Carrier* over = nullptr;
    std::size_t number = 0;  // among the lanes of its carrier
    std::size_t count = 1;   // of them
    std::weak_ptr<Engine> engine;
    bool failed = false;  // to open: then it is not tried again
  };

  // Opens the lane of the device at `index` if it is not open.
  Result<std::shared_ptr<Engine>> running(std::size_t index, Running& lane,
                                          std::vector<LogLine>& said);
  // The device goes without this lane, and without those of its carrier that come after it.
  void give_up(std::size_t index, const Running& lane, const Error& error,
               std::vector<LogLine>& said);
  Result<std::shared_ptr<Engine>> open(const Device& device, const Running& lane,
                                       std::string& said);
  // Wraps what was opened, where a trace is wanted.
  void trace(Opened& opened, OpenedDevice& device, const std::string& lane,
             const Settings& settings);
  void on_failure(const Opened& origin, core::ContextId context, const Error& error);
  void retire(std::shared_ptr<Opened> opened);
  void say(LogLevel level, std::string text);
  std::shared_ptr<LiveRows> live_rows(const Settings& settings);

  // Recursive: failing a context on one device may uncover failures of another context there.
  std::recursive_mutex mutex_;
  LogSink log_;
  std::shared_ptr<const Result<Setup>> setup_;
  std::string said_;  // of setup_, in the log
  struct DeviceLanes {
    std::vector<Running> lanes;  // in the order of carriers()
    std::shared_ptr<LaneTurns> turns = std::make_shared<LaneTurns>();
  };
  std::vector<DeviceLanes> by_device_;
  bool said_fallback_ = false;
  WayBook ways_;
  bool said_unknown_ = false;  // variables of the environment that resemble no setting
  std::size_t traces_ = 0;     // begun
  std::vector<Opened*> open_;
  std::size_t retiring_ = 0;
  std::weak_ptr<LiveRows> live_rows_;
  Statistics statistics_;
  std::atomic<core::ContextId> next_context_{1};
  std::atomic<std::uint32_t> next_listener_{1};
  std::optional<wire::Key> listeners_key_;  // once an engine has been opened
};

}  // namespace dlcp::engine
