// One plugin in a rank's process: loads it, connects it to the same plugin of the other ranks, runs
// the case's mode, closes everything. A rank may hold several plugins, which run in turn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/bench/rank/rank.h"
#include "cli/measure/thread_cpu.h"
#include "cli/plugin/plugin_choice.h"

namespace dlcp::cli {

class RankPlugin {
 public:
  RankPlugin(const BenchCase& bench_case, const PluginChoice& choice, Control& control)
      : case_(bench_case), choice_(choice), control_(control) {}
  ~RankPlugin();  // closes what close() has not closed, and ignores errors
  RankPlugin(const RankPlugin&) = delete;
  RankPlugin& operator=(const RankPlugin&) = delete;

  // Loads and connects, with the settings of the choice in the environment. The plugin writes its
  // counters to `stats_file`.
  void open(const std::string& stats_file, RankResult& result);
  // Runs the mode once over the open connections. `turn` is the constructor's case, except for its
  // seed.
  void run(const BenchCase& turn, RankResult& result);
  void close();
  void identify(RankResult& result) const;  // sets the plugin's name, path and version
  // CPU time of the threads that the plugin has started while it was loaded and connected.
  double threads_cpu_seconds() const { return cpu_seconds_of(threads_); }

 private:
  void initialise();

  const BenchCase& case_;
  const PluginChoice& choice_;
  Control& control_;
  std::optional<LoadedPlugin> loaded_;
  std::unique_ptr<CollNetPlugin> collnet_;
  std::unique_ptr<NcclPart> nccl_;
  std::unique_ptr<Links> links_;  // null: not initialised, or closed
  Threads threads_;
};

// The last warning of any plugin in this process; "" if there was none.
std::string last_warning();

}  // namespace dlcp::cli
