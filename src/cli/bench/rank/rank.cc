#include "cli/bench/rank/rank.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bench/rank/rank_plugin.h"
#include "cli/bench/rank/turns.h"
#include "cli/command_line/output/json_text.h"
#include "cli/launch/clock.h"

namespace dlcp::cli {
namespace {

void drive(const BenchCase& c, Control& control, const std::vector<std::string>& stats_files,
           RankResult& r) {
  if (!c.plan_file.empty()) setenv("DLCP_PLAN", c.plan_file.c_str(), 1);
  // Empty in all other cases, so that the user's own settings have no effect here.
  setenv("DLCP_COLLNET_SWITCH", c.switch_name.c_str(), 1);
  setenv("DLCP_COLLNET_HUBS", c.hubs.c_str(), 1);
  std::vector<std::unique_ptr<RankPlugin>> plugins;
  for (const PluginChoice& choice : c.plugins)
    plugins.push_back(std::make_unique<RankPlugin>(c, choice, control));
  try {
    for (std::size_t i = 0; i < plugins.size(); i++)
      plugins[i]->open(stats_files[i], r);
    if (c.turns > 0)
      run_in_turns(c, plugins, control, r);
    else
      plugins.front()->run(c, r);
  } catch (const BenchError&) {
    r.error_at_ns = now_ns();
    throw;
  }
  for (const auto& plugin : plugins)
    plugin->close();
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

RankResult run_rank(const BenchCase& c, Control& control,
                    const std::vector<std::string>& stats_files) {
  RankResult r;
  r.rank = control.rank();
  try {
    drive(c, control, stats_files, r);
    if (c.check && r.wrong.bytes > 0) r.exit_code = ExitCode::kWrongData;
  } catch (const BenchError& e) {
    r.exit_code = e.exit_code();
    r.result = e.result();
    r.stopped = dynamic_cast<const Stopped*>(&e) != nullptr;
    r.error = e.what();
    const std::string warning = last_warning();
    if (!warning.empty() && e.result() != ResultCode::kSuccess) r.error += ": " + warning;
  } catch (const std::exception& e) {
    r.exit_code = ExitCode::kTransport;
    r.error = e.what();
  }
  if (!r.error.empty() && r.error_at_ns == 0) r.error_at_ns = now_ns();
  if (r.turns.empty()) r.counters = read_counters(stats_files.front());
  // The first turns are the plugins' first ones, in the order of the plugins.
  for (std::size_t i = 0; i < std::min(c.plugins.size(), r.turns.size()); i++)
    r.turns[i].counters = read_counters(stats_files[i]);
  control.send_result(r.encode());
  return r;
}

RankResult& RankResult::operator+=(const RankResult& turn) {
  rank = turn.rank;
  plugin_name = turn.plugin_name;
  plugin_path = turn.plugin_path;
  abi = turn.abi;
  seconds += turn.seconds;
  connect_seconds = std::max(connect_seconds, turn.connect_seconds);
  cpu += turn.cpu;
  bytes += turn.bytes;
  messages += turn.messages;
  wrong += turn.wrong;
  times.merge(turn.times);
  losses.insert(losses.end(), turn.losses.begin(), turn.losses.end());
  for (const auto& [name, value] : turn.counters)
    counters[name] += value;
  turn_seconds += turn.turn_seconds;
  others_cpu_seconds += turn.others_cpu_seconds;
  return *this;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CpuTime, user, kernel)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mismatch, bytes, elements)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReduceLoss, lost, unequal, hash, squared_error, squared_exact,
                                   unexplained)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, rank, plugin_name, plugin_path, abi, seconds,
                                   connect_seconds, cpu, bytes, messages, wrong, times, exit_code,
                                   error, stopped, result, error_at_ns, losses, counters, plugin,
                                   turns, turn_seconds, others_cpu_seconds)

std::string RankResult::encode() const {
  return json_text(nlohmann::json(*this));
}

RankResult RankResult::decode(const std::string& text) {
  return nlohmann::json::parse(text);
}

}  // namespace dlcp::cli
