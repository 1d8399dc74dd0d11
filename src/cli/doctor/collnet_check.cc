#include "cli/doctor/collnet_check.h"

#include <fmt/format.h>

#include "cli/doctor/net_abi.h"
#include "engine/environment.h"
#include "engine/settings.h"

namespace dlcp::cli {
namespace {

constexpr int kServedSince = 22000;  // NCCL 2.20: before it channels' calls have no common order
constexpr int kTellsLengthsSince = 22800;

Finding says(Level level, const std::string& value, const std::string& fix = "") {
  return {"collnet", level, value, fix};
}

std::string loss_words(const CollnetState& state) {
  if (state.loss_budget_ppm == 0 || state.by_plan) return "; exact";
  if (state.nccl_version != 0 && state.nccl_version < kTellsLengthsSince) {
    return fmt::format("; exact, as NCCL {} does not tell how long tensors are",
                       nccl_version_text(state.nccl_version));
  }
  return fmt::format("; sums of floats may lose {:.4g}%", state.loss_budget_ppm / 1e4);
}

}  // namespace

Finding judge_collnet(const CollnetState& state) {
  if (!state.offered) {
    return says(
        state.by_plan ? Level::kWarn : Level::kOk,
        fmt::format("off: NCCL_COLLNET_ENABLE is not 1, so all-reduces go over NCCL's rings "
                    "and trees{}",
                    state.by_plan ? ", and DLCP_PLAN has no effect" : ""),
        state.by_plan ? "export NCCL_COLLNET_ENABLE=1" : "");
  }
  if (state.refused) {
    return says(Level::kWarn, "off: NCCL_COLLNET_ENABLE offers it, and DLCP_COLLNET=off refuses",
                "unset one of them; the same on all hosts");
  }
  if (state.nccl_version != 0 && state.nccl_version < kServedSince) {
    return says(
        Level::kWarn,
        fmt::format("off: NCCL {} is too old for it", nccl_version_text(state.nccl_version)),
        "NCCL 2.20 or newer");
  }
  return says(Level::kOk, fmt::format("on: all-reduces {}{}",
                                      state.by_plan ? "go by DLCP_PLAN"
                                                    : "may go by direct exchange, from 3 nodes on",
                                      loss_words(state)));
}

Finding check_collnet(int nccl_version) {
  CollnetState state;
  state.nccl_version = nccl_version;
  state.offered = engine::nccl_offers_collnet();
  const auto settings =
      engine::load_settings(engine::process_environment(), engine::read_text_file);
  if (settings) {  // bad settings are another finding
    state.refused = settings.value().collnet == engine::CollnetChoice::kOff;
    state.by_plan = !settings.value().plan_file.empty();
    state.loss_budget_ppm = settings.value().loss_budget_ppm;
  }
  return judge_collnet(state);
}

}  // namespace dlcp::cli
