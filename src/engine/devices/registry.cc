#include "engine/devices/registry.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "datapath/trace/tracing_datapath.h"
#include "engine/host/clock.h"
#include "engine/host/processors.h"
#include "engine/settings/environment.h"
#include "engine/trace/decision_notes.h"
#include "util/system/open_files.h"
#include "util/system/system_text.h"

namespace dlcp::engine {
namespace {

Result<wire::Key> draw_key() {
  wire::Key key;
  const ssize_t drawn = ::getrandom(&key, sizeof key, 0);  // never cut short at this size
  if (drawn != static_cast<ssize_t>(sizeof key)) {
    return Error{
        ErrorCode::kSystem,
        fmt::format("the system provides no random numbers: getrandom: {}", system_text(errno)),
        "without random numbers keys could be guessed; check whether a seccomp profile forbids "
        "the call"};
  }
  return key;
}

Result<std::vector<MeasuredDevice>> read_measured(const Settings& settings,
                                                  const std::vector<Device>& devices) {
  const std::string& path = settings.order_file;
  if (path.empty()) return std::vector<MeasuredDevice>(devices.size());
  const auto text = read_named("DLCP_ORDER", path, read_text_file,
                               "create it with `dlcp order -o FILE`, or unset the setting");
  if (!text) return text.error();
  const std::vector<datapath::Interface> interfaces(devices.begin(), devices.end());
  return measured_devices(path, text.value(), interfaces);
}

// Further lanes leave the application half of the files that it may open: a job that runs out of
// them later ends in NCCL's bootstrap or in a data loader.
Status check_open_files() {
  const auto files = open_files();
  if (!files || files->open < files->most / 2) return Unit{};
  return Error{ErrorCode::kSystem,
               fmt::format("{} of {} files are open, and the rest is left to the application",
                           files->open, files->most),
               "raise the limit (ulimit -n)"};
}

// The name in monitors; the first lane has the name of the device.
std::string lane_name(const Device& device, std::size_t number) {
  return number == 0 ? device.name : fmt::format("{}/{}", device.name, number + 1);
}

}  // namespace

Result<Setup> read_setup() {
  auto settings = process_settings();
  if (!settings) return settings.error();
  if (auto faults = read_faults(settings.value()); !faults) return faults.error();
  auto devices = choose_devices(settings.value());
  if (!devices) return devices.error();
  auto measured = read_measured(settings.value(), devices.value());
  if (!measured) return measured.error();
  return Setup{std::move(settings).value(), std::move(devices).value(),
               std::move(measured).value()};
}

Registry& Registry::of_process() {
  static Registry* const registry = new Registry([](const LogLine&) {});
  return *registry;
}

void Registry::set_log(LogSink log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
}

void Registry::log(LogLevel level, std::string text) {
  if (last_delivery_.has_begun) return;
  LogSink log;
  {
    const std::lock_guard lock(mutex_);
    log = log_;
  }
  log({level, std::move(text)});
}

void Registry::refresh() {
  std::vector<LogLine> lines;
  std::string unknown;
  {
    const std::lock_guard lock(mutex_);
    if (setup_ != nullptr && (!open_.empty() || retiring_ != 0)) return;
    setup_ = std::make_shared<const Result<Setup>>(read_setup_());
    by_device_.clear();
    ways_.clear();
    if (!setup_->ok()) return;  // reported by listen, which fails the job
    const Setup& setup = setup_->value();
    last_delivery_.linger = setup.settings.linger;
    std::size_t lanes_most = 0;
    for (const Device& device : setup.devices) {
      auto& lanes = by_device_.emplace_back().lanes;
      for (const Carrier* carrier : carriers()) {
        const std::size_t count =
            device.over(*carrier) != nullptr
                ? lane_count(device, *carrier, setup.settings, usable_processors())
                : 0;
        lanes_most = std::max(lanes_most, count);
        for (std::size_t number = 0; number < count; ++number)
          lanes.push_back({carrier, number, count, {}, false});
      }
    }
    if (!said_unknown_) unknown = unknown_line(setup.settings);
    said_unknown_ = said_unknown_ || !unknown.empty();
    for (std::string& line : effective_lines(setup.settings))
      lines.push_back({LogLevel::kInfo, std::move(line)});
    for (const auto& device : setup.devices) {
      lines.push_back(
          {LogLevel::kInfo,
           fmt::format("device {} {} {} Mbit/s MTU {}", device.name, to_string(device.ip),
                       device.properties.speed_mbps, device.properties.mtu)});
    }
    std::ranges::move(unused_settings(setup.settings, setup.devices, lanes_most),
                      std::back_inserter(lines));
    if (!setup.settings.fault.empty()) {
      lines.push_back({LogLevel::kWarn, fmt::format("DLCP_FAULT={} damages all traffic on "
                                                    "purpose; unset it outside of tests",
                                                    setup.settings.fault)});
    }
  }
  if (!unknown.empty()) log(LogLevel::kWarn, std::move(unknown));
  std::string all;
  for (const LogLine& line : lines)
    all += line.text + '\n';
  {
    const std::lock_guard lock(mutex_);
    if (all == logged_description_) return;
    logged_description_ = std::move(all);
  }
  for (LogLine& line : lines)
    log(line.level, std::move(line.text));
}

std::shared_ptr<const Result<Setup>> Registry::setup() {
  const std::lock_guard lock(mutex_);
  if (setup_ == nullptr) refresh();
  return setup_;
}

Result<Port> Registry::port(int device, Extent extent) {
  std::vector<LogLine> lines;
  std::vector<Lane> lanes;
  // Released without the lock: their last owner joins a thread that may wait for it.
  std::vector<EnginePtr> failed;
  std::shared_ptr<LaneTurns> turns;
  {
    const std::lock_guard lock(mutex_);
    const auto setup = this->setup();
    if (!setup->ok()) return setup->error();
    const auto index = static_cast<std::size_t>(device);
    if (device < 0 || index >= by_device_.size()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("device {} of {}", device, by_device_.size()), ""};
    }
    turns = by_device_[index].turns;
    for (Running& lane : by_device_[index].lanes) {
      if (extent == Extent::kFirstLanes && lane.number > 0) continue;
      auto engine = running(index, lane, failed, lines);
      if (!engine) return engine.error();
      if (engine.value() != nullptr) lanes.push_back({lane.over, std::move(engine).value()});
    }
  }
  for (LogLine& line : lines)
    log(line.level, std::move(line.text));
  return Port(std::move(lanes), std::move(turns));
}

// Returns nullptr if the lane cannot be opened but the device has another lane of this carrier, or
// a carrier that comes after it.
auto Registry::running(std::size_t index, Running& lane, std::vector<EnginePtr>& failed,
                       std::vector<LogLine>& said) -> Result<EnginePtr> {
  auto engine = lane.engine.lock();
  if (engine != nullptr && engine->has_failed()) failed.push_back(std::move(engine));
  if (engine != nullptr || lane.failed) return engine;
  const Device& device = setup_->value().devices[index];
  std::string description;
  auto opened = open(device, lane, description);
  if (opened) {
    lane.engine = opened.value();
    said.push_back({LogLevel::kInfo, std::move(description)});
    return opened;
  }
  const auto order = carriers();
  const auto next = std::ranges::find(order, lane.over) + 1;
  if (lane.number == 0 && std::none_of(next, order.end(), [&](const Carrier* other) {
        return device.over(*other) != nullptr;
      }))
    return opened;
  give_up(index, lane, opened.error(), said);
  return EnginePtr();
}

void Registry::give_up(std::size_t index, const Running& lane, const Error& error,
                       std::vector<LogLine>& said) {
  for (Running& other : by_device_[index].lanes)
    other.failed = other.failed || (other.over == lane.over && other.number >= lane.number);
  const std::string& name = setup_->value().devices[index].name;
  const std::string why = error.message();
  said.push_back(
      {LogLevel::kWarn, lane.number == 0
                            ? fmt::format("cannot use {} over {}: {}", name, lane.over->name, why)
                            : fmt::format("{} has {} lanes over {} instead of {}: {}, or use fewer "
                                          "lanes (DLCP_LANES)",
                                          name, lane.number, lane.over->name, lane.count, why)});
}

auto Registry::open(const Device& device, const Running& lane, std::string& said)
    -> Result<EnginePtr> {
  const Settings& settings = setup_->value().settings;
  if (lane.number > 0) {
    if (const Status room = check_open_files(); !room) return room.error();
  }
  auto opened_device = open_device(*device.over(*lane.over), settings);
  if (!opened_device) return opened_device.error();
  auto own = draw_key();
  if (own && !listeners_key_) {
    auto listeners = draw_key();
    if (!listeners) return listeners.error();
    listeners_key_ = listeners.value();
  }
  if (!own) return own.error();
  auto opened = std::make_shared<Opened>();
  opened->stats_file = settings.stats_file;
  Opened* const raw = opened.get();
  const std::string datapath(opened_device->datapath->name());
  trace(*opened, opened_device.value(), lane_name(device, lane.number), settings);
  opened->engine = std::make_unique<Engine>(
      std::move(opened_device->datapath), opened_device->config,
      core::Secrets{own.value(), *listeners_key_, settings.site_secret},
      [this](const LogLine& line) { log(line.level, line.text); },
      [this, raw](core::ContextId context, const Error& error) {
        on_failure(*raw, context, error);
      },
      std::make_unique<Monitor>(live_rows(settings), lane_name(device, lane.number), datapath));
  // Encrypted messages are not copied, because libcrypto ends before exit() waits for copies.
  if (settings.protection != wire::Protection::kEncrypted)
    opened->engine->copy_up_to(settings.copied_bytes_max, &last_delivery_.undelivered);
  if (const Status started = opened->engine->start_helper(lane.count > 1); !started)
    return started.error();
  open_.push_back(raw);
  said = std::move(opened_device->description);
  Engine* const engine = raw->engine.get();
  return std::shared_ptr<Engine>(
      engine, [this, opened = std::move(opened)](Engine*) mutable { retire(std::move(opened)); });
}

void Registry::log_fallback(const std::string& fallback) {
  {
    const std::lock_guard lock(mutex_);
    if (logged_fallback_) return;
    logged_fallback_ = true;
  }
  log(LogLevel::kWarn, fmt::format("{} (logged once; run `dlcp doctor` on both hosts)", fallback));
}

void Registry::note_way(std::size_t device, const wire::EndpointAddress& peer, const Way& way) {
  const auto setup = this->setup();
  if (std::string news = ways_.remember(setup->value().devices, device, peer, way); !news.empty())
    log(LogLevel::kInfo, std::move(news));
}

// Null if the setting or the system does not permit it: then `dlcp stats` does not show the
// process, and `dlcp exact` cannot change it.
std::shared_ptr<LiveRows> Registry::live_rows(const Settings& settings) {
  if (live_rows_ == nullptr && settings.live_stats) {
    if (auto file = LiveFile::create(DLCP_VERSION))
      live_rows_ = std::make_shared<LiveRows>(std::move(file).value());
  }
  return live_rows_;
}

void Registry::trace(Opened& opened, OpenedDevice& device, const std::string& lane,
                     const Settings& settings) {
  if (settings.trace_file.empty()) return;
  opened.trace = std::make_unique<TraceFile>(settings.trace_file, ++traces_, lane,
                                             device.datapath->local_address());
  device.config.decisions = std::make_shared<DecisionNotes>(opened.trace->ring());
  device.datapath = std::make_unique<datapath::TracingDatapath>(
      std::move(device.datapath), opened.trace->ring(), marks_of(settings));
}

// A failure on one engine is passed on to the other engines of the context.
void Registry::on_failure(const Opened& origin, core::ContextId context, const Error& error) {
  if (origin.trace != nullptr) {
    if (const auto line = origin.trace->write()) log(line->level, line->text);
  }
  const std::lock_guard lock(mutex_);
  for (const Opened* opened : open_)
    if (opened != &origin) opened->engine->fail_context(context, error);
}

std::uint64_t Registry::total(core::Counter counter) {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = statistics_.total(counter);
  for (const Opened* opened : open_)
    sum += opened->engine->counters()[counter];
  return sum;
}

void Registry::retire(std::shared_ptr<Opened> opened) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(open_, opened.get());
    ++retiring_;
  }
  opened->engine->stop();  // without the lock, because its thread may be propagating a failure
  const std::string stats_file = opened->stats_file;
  int error = 0;
  {
    const std::lock_guard lock(mutex_);
    opened->engine->add_to(statistics_);
    opened.reset();
    --retiring_;
    if (open_.empty() && retiring_ == 0 && !stats_file.empty())
      error = statistics_.write(stats_file);
  }
  if (error != 0) {
    log(LogLevel::kWarn, fmt::format("DLCP_STATS_FILE = '{}': cannot be written: {}; name a file "
                                     "in a folder that this rank may write to",
                                     stats_file, system_text(error)));
  }
}

}  // namespace dlcp::engine
