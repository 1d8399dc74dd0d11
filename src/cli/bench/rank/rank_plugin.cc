#include "cli/bench/rank/rank_plugin.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "cli/bench/modes/modes.h"
#include "cli/bench/modes/operation_feed.h"
#include "cli/bench/own_servers.h"
#include "dlcp/communicator_class.h"

namespace dlcp::cli {
namespace {

std::mutex g_log_lock;
std::string g_last_warning;

// The logger that NCCL passes to a plugin. NCCL_DEBUG=WARN or INFO prints what comes; the last
// warning is kept to explain a failure.
__attribute__((format(printf, 5, 6))) void log_for_plugin(nccl::LogLevel level, unsigned long,
                                                          const char* file, int line,
                                                          const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const bool warning = level == nccl::LogLevel::kWarn;
  const char* debug = std::getenv("NCCL_DEBUG");
  const std::string shown = debug != nullptr ? debug : "";
  const std::lock_guard guard(g_log_lock);
  if (warning) g_last_warning = text;
  if (warning && (shown == "WARN" || shown == "INFO"))
    fmt::print(stderr, "{}:{} WARN {}\n", file != nullptr ? file : "?", line, text);
  else if (level == nccl::LogLevel::kInfo && shown == "INFO")
    fmt::print(stderr, "INFO {}\n", text);
}

// Tells the plugin about the next operations, as NCCL does from v11 on: a collective in the
// protocol that the payload follows, or plain send and receive.
void describe_operations(const BenchCase& c, NetPlugin& net) {
  const bool ring = traits_of(c.mode).reduces;
  CollectiveCall call;  // a ring AllReduce
  if (c.flags != LineFlags::kNone) {
    call.protocol = c.flags == LineFlags::kLl ? "LL" : "LL128";
  } else if (!ring && c.loss_budget > 0) {
    call = stream_call(c);
  } else if (!ring) {
    call.function = "SendRecv";
    call.algorithm = call.protocol = "";
  }
  const AttributeBits bits = bits_of(call);
  require(net.set_attributes(bits.function, bits.algorithm, bits.protocol), "setNetAttr");
}

// Returns null if the case does not use CollNet.
std::unique_ptr<CollNetPlugin> open_collnet(const BenchCase& c, LoadedPlugin& loaded) {
  if (c.mode != Mode::kAllReduce || !by_collnet(c.algorithm)) return nullptr;
  auto collnet = loaded.collnet(c.abi);
  if (collnet == nullptr)
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("{} exports no ncclCollNetPlugin_v{}, which --algo {} needs", loaded.path(),
                    c.abi == 0 ? "8 to _v12" : std::to_string(c.abi), name_of(c.algorithm)));
  return collnet;
}

}  // namespace

std::string last_warning() {
  const std::lock_guard guard(g_log_lock);
  return g_last_warning;
}

void RankPlugin::identify(RankResult& result) const {
  if (!loaded_) return;
  NetPlugin& net = loaded_->net();
  result.plugin_name = net.name();
  result.plugin_path = loaded_->path();
  result.abi = net.abi();
}

void RankPlugin::open(const std::string& stats_file, RankResult& result) {
  EnvironmentVariables environment = choice_.environment;
  if (!stats_file.empty()) environment.emplace_back("DLCP_STATS_FILE", stats_file);
  const ScopedEnvironment set(environment);
  const Threads before = threads_of_process();
  auto loaded = LoadedPlugin::open(choice_.name, case_.abi, case_.plugins.size() > 1);
  if (!loaded) throw BenchError(ExitCode::kUsage, loaded.error().message());
  loaded_.emplace(std::move(loaded).value());
  identify(result);
  if (case_.loss > 0 && case_.netns.empty() && result.plugin_name != "DLCP")
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("--loss without --netns injects faults in the DLCP plugin, but this is {}; "
                    "let the network lose packets instead: scripts/netns",
                    result.plugin_name));
  initialise();
  links_->open(case_);
  describe_operations(case_, loaded_->net());
  threads_ = new_threads(before, threads_of_process());
}

void RankPlugin::initialise() {
  NetPlugin& net = loaded_->net();
  collnet_ = open_collnet(case_, *loaded_);
  const std::uint64_t communicator = mix64(case_.seed);
  // NCCL loads the profiler from the same file as the net plugin.
  nccl_ = loaded_->nccl_part();
  if (case_.loss_budget > 0) {
    CommunicatorClass communicator_class;
    communicator_class.budget_ppm =
        static_cast<std::uint32_t>(std::lround(case_.loss_budget * 1e6));
    net.set_communicator_class(encode(communicator_class));
    if (nccl_ == nullptr)
      throw BenchError(ExitCode::kUsage, fmt::format("--loss-budget: {} has no profiler, which "
                                                     "it needs to learn what its messages are",
                                                     net.name()));
  }
  if (sums_by_switch(case_) && nccl_ == nullptr)
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("--algo switch: {} has no profiler, which it needs to learn the lengths of "
                    "vectors",
                    net.name()));
  require(net.init(communicator, log_for_plugin), "init");
  if (nccl_ != nullptr)
    require(nccl_->init(communicator, case_.ranks, control_.rank(), log_for_plugin),
            "profiler init");
  if (collnet_ != nullptr) require(collnet_->init(communicator, log_for_plugin), "collnet init");
  links_ = std::make_unique<Links>(net, control_);
}

void RankPlugin::run(const BenchCase& turn, RankResult& result) {
  const bool described = turn.loss_budget > 0 || sums_by_switch(turn);
  Session session{turn,
                  loaded_->net(),
                  *links_,
                  control_,
                  result,
                  collnet_.get(),
                  described ? nccl_.get() : nullptr};
  identify(result);
  traits_of(turn.mode).run(session);
}

void RankPlugin::close() {
  const std::unique_ptr<Links> links = std::move(links_);
  links->close();
  if (nccl_ != nullptr) require(nccl_->finalize(), "profiler finalize");
  if (collnet_ != nullptr) require(collnet_->finalize(), "collnet finalize");
  require(loaded_->net().finalize(), "finalize");
}

// After a failure: the first error is the one to report.
RankPlugin::~RankPlugin() {
  if (links_ == nullptr) return;
  try {
    links_->close();
  } catch (const BenchError&) {
  }
  if (nccl_ != nullptr) nccl_->finalize();
  if (collnet_ != nullptr) collnet_->finalize();
  loaded_->net().finalize();
}

}  // namespace dlcp::cli
