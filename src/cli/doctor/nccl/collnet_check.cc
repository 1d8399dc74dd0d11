#include "cli/doctor/nccl/collnet_check.h"

#include <fmt/format.h>

#include "cli/doctor/nccl/net_abi.h"
#include "collective/switchml/switch_name.h"
#include "engine/hub/hub_places.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

constexpr int kServedSince = 22000;  // NCCL 2.20: earlier, channels' calls have no common order
constexpr int kTellsLengthsSince = 22800;

Finding says(Level level, const std::string& value, const std::string& fix = "") {
  return {"collnet", level, value, fix};
}

std::string loss_words(const CollnetState& state) {
  if (state.loss_budget_ppm == 0 || state.by_plan) return "; exact";
  if (state.nccl_version != 0 && state.nccl_version < kTellsLengthsSince) {
    return fmt::format("; exact, because NCCL {} does not report tensor lengths",
                       nccl_version_text(state.nccl_version));
  }
  return fmt::format("; sums of floats may lose {:.4g}%", state.loss_budget_ppm / 1e4);
}

}  // namespace

Finding judge_collnet(const CollnetState& state) {
  if (!state.offered) {
    const char* const idle = state.by_plan              ? "DLCP_PLAN"
                             : !state.by_switch.empty() ? "DLCP_COLLNET_SWITCH"
                             : !state.hubs.empty()      ? "DLCP_COLLNET_HUBS"
                                                        : nullptr;
    return says(
        idle != nullptr ? Level::kWarn : Level::kOk,
        fmt::format("off: NCCL_COLLNET_ENABLE is not 1, so all-reduces go over NCCL's rings "
                    "and trees{}",
                    idle != nullptr ? fmt::format(", and {} has no effect", idle) : ""),
        idle != nullptr ? "export NCCL_COLLNET_ENABLE=1" : "");
  }
  if (state.refused) {
    return says(Level::kWarn,
                "off: NCCL_COLLNET_ENABLE=1 enables CollNet, but DLCP_COLLNET=off disables it",
                "unset one of the two, the same one on all hosts");
  }
  if (state.nccl_version != 0 && state.nccl_version < kServedSince) {
    return says(
        Level::kWarn,
        fmt::format("off: NCCL {} is too old for it", nccl_version_text(state.nccl_version)),
        "NCCL 2.20 or newer");
  }
  if (!state.bad_hubs.empty()) {
    return says(Level::kWarn, fmt::format("off: DLCP_COLLNET_HUBS: {}", state.bad_hubs),
                "list the hubs as HOST or HOST:PORT, separated by commas; do not set DLCP_PLAN or "
                "DLCP_COLLNET_SWITCH as well");
  }
  if (!state.switch_fault.empty()) {
    return says(
        Level::kFail,
        fmt::format("off: DLCP_COLLNET_SWITCH = '{}': {}", state.by_switch, state.switch_fault),
        "name a switch as HOST[:PORT][/SLOTS], or unset the setting");
  }
  if (!state.by_switch.empty()) {
    const bool tells = state.nccl_version == 0 || state.nccl_version >= kTellsLengthsSince;
    return says(
        tells ? Level::kOk : Level::kWarn,
        tells ? fmt::format("on: the switch {} adds float32 sums, with rounding; other sums use "
                            "direct exchange{}",
                            state.by_switch, loss_words(state))
              : fmt::format("on, by direct exchange: NCCL {} does not report tensor lengths, so "
                            "no sum uses the switch {}",
                            nccl_version_text(state.nccl_version), state.by_switch),
        tells ? "" : "NCCL 2.28 or newer");
  }
  const std::string by = state.by_plan ? "follow DLCP_PLAN"
                         : state.hubs.empty()
                             ? "may use direct exchange, on 3 or more nodes"
                             : "may use the hubs " + state.hubs + ", on 3 or more nodes";
  return says(Level::kOk, fmt::format("on: all-reduces {}{}", by, loss_words(state)));
}

Finding check_collnet(int nccl_version) {
  CollnetState state;
  state.nccl_version = nccl_version;
  state.offered = engine::nccl_offers_collnet();
  const auto settings = engine::process_settings();
  if (settings) {  // bad settings are reported by another finding
    state.refused = settings.value().collnet == engine::CollnetChoice::kOff;
    state.by_plan = !settings.value().plan_file.empty();
    state.by_switch = settings.value().collnet_switch;
    if (!state.by_switch.empty()) {
      const auto name = collective::switch_name(state.by_switch);
      state.switch_fault = name.ok() ? "" : name.error().message();
    }
    state.hubs = settings.value().collnet_hubs;
    const auto places = engine::parse_hub_places(state.hubs);
    state.bad_hubs = !places                   ? places.error().what
                     : state.hubs.empty()      ? ""
                     : state.by_plan           ? "DLCP_PLAN is set as well"
                     : state.by_switch.empty() ? ""
                                               : "DLCP_COLLNET_SWITCH is set as well";
    state.loss_budget_ppm = settings.value().loss_budget_ppm;
  }
  return judge_collnet(state);
}

}  // namespace dlcp::cli
