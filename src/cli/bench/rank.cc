#include "cli/bench/rank.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/bench/modes.h"
#include "cli/bench/operation_feed.h"
#include "cli/bench/own_servers.h"
#include "cli/launch/clock.h"
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

std::string last_warning() {
  const std::lock_guard guard(g_log_lock);
  return g_last_warning;
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

void drive(const BenchCase& c, Control& control, RankResult& r) {
  if (!c.plan_file.empty()) setenv("DLCP_PLAN", c.plan_file.c_str(), 1);
  // Empty in all other cases, so that the user's own settings have no effect here.
  setenv("DLCP_COLLNET_SWITCH", c.switch_name.c_str(), 1);
  setenv("DLCP_COLLNET_HUBS", c.hubs.c_str(), 1);
  auto loaded = LoadedPlugin::open(c.plugin, c.abi);
  if (!loaded) throw BenchError(ExitCode::kUsage, loaded.error().message());
  NetPlugin& net = loaded->net();
  r.plugin_name = net.name();
  r.plugin_path = loaded->path();
  r.abi = net.abi();
  if (c.loss > 0 && c.netns.empty() && r.plugin_name != "DLCP")
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("--loss without --netns injects faults in the DLCP plugin, but this is {}; "
                    "let the network lose packets instead: scripts/netns",
                    r.plugin_name));
  const std::unique_ptr<CollNetPlugin> collnet = open_collnet(c, loaded.value());
  const std::uint64_t communicator = mix64(c.seed);
  // NCCL loads the profiler from the same file as the net plugin.
  std::unique_ptr<NcclPart> nccl = loaded->nccl_part();
  const bool licensed = c.loss_budget > 0;
  if (licensed) {
    CommunicatorClass communicator_class;
    communicator_class.budget_ppm = static_cast<std::uint32_t>(std::lround(c.loss_budget * 1e6));
    net.set_communicator_class(encode(communicator_class));
    if (nccl == nullptr)
      throw BenchError(ExitCode::kUsage, fmt::format("--loss-budget: {} has no profiler, which "
                                                     "it needs to learn what its messages are",
                                                     r.plugin_name));
  }
  if (sums_by_switch(c) && nccl == nullptr)
    throw BenchError(
        ExitCode::kUsage,
        fmt::format("--algo switch: {} has no profiler, which it needs to learn the lengths of "
                    "vectors",
                    r.plugin_name));
  require(net.init(communicator, log_for_plugin), "init");
  if (nccl != nullptr)
    require(nccl->init(communicator, c.ranks, control.rank(), log_for_plugin), "profiler init");
  if (collnet != nullptr) require(collnet->init(communicator, log_for_plugin), "collnet init");
  Links links(net, control);
  try {
    links.open(c);
    describe_operations(c, net);
    Session session{c,
                    net,
                    links,
                    control,
                    r,
                    collnet.get(),
                    licensed || sums_by_switch(c) ? nccl.get() : nullptr};
    traits_of(c.mode).run(session);
  } catch (const BenchError&) {
    r.error_at_ns = now_ns();
    try {
      links.close();
    } catch (const BenchError&) {
      // Report the first failure.
    }
    if (nccl != nullptr) nccl->finalize();
    if (collnet != nullptr) collnet->finalize();
    net.finalize();
    throw;
  }
  links.close();
  if (nccl != nullptr) require(nccl->finalize(), "profiler finalize");
  if (collnet != nullptr) require(collnet->finalize(), "collnet finalize");
  require(net.finalize(), "finalize");
}

// Reads the JSON object of counters that the plugin has written in finalize.
std::map<std::string, std::int64_t> read_counters(const std::string& path) {
  std::map<std::string, std::int64_t> counters;
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return counters;
  for (const auto& [name, value] : json.items())
    if (value.is_number_integer()) counters[name] = value.get<std::int64_t>();
  const auto verbs = json.find("verbs");
  if (verbs != json.end() && verbs->value("tx_packets", 0) > 0)
    for (const auto& [name, value] : verbs->items())
      counters["verbs_" + name] = value;
  return counters;
}

}  // namespace

RankResult run_rank(const BenchCase& c, Control& control, const std::string& stats_file) {
  RankResult r;
  r.rank = control.rank();
  try {
    drive(c, control, r);
    if (c.check && r.wrong.bytes > 0) r.exit_code = ExitCode::kWrongData;
  } catch (const BenchError& e) {
    r.exit_code = e.exit_code();
    r.result = e.result();
    r.error = e.what();
    const std::string warning = last_warning();
    if (!warning.empty() && e.result() != ResultCode::kSuccess) r.error += ": " + warning;
  } catch (const std::exception& e) {
    r.exit_code = ExitCode::kTransport;
    r.error = e.what();
  }
  if (!r.error.empty() && r.error_at_ns == 0) r.error_at_ns = now_ns();
  r.counters = read_counters(stats_file);
  control.send_result(r.encode());
  return r;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mismatch, bytes, elements)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReduceLoss, lost, unequal, hash, squared_error, squared_exact,
                                   unexplained)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, rank, plugin_name, plugin_path, abi, seconds,
                                   connect_seconds, cpu_seconds, bytes, messages, wrong, times,
                                   exit_code, error, result, error_at_ns, losses, counters)

std::string RankResult::encode() const {
  return nlohmann::json(*this).dump();
}

RankResult RankResult::decode(const std::string& text) {
  return nlohmann::json::parse(text);
}

}  // namespace dlcp::cli
