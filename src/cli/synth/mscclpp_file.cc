#include "cli/synth/mscclpp_file.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/command_line/text_file.h"
#include "cli/synth/synth_report.h"
#include "synth/output/mscclpp_json.h"

namespace dlcp::cli {
namespace {

std::string what_it_costs(const synth::Synthesis& best, const synth::Synthesis& fits) {
  const double wanted = best.outcomes.back().seconds, taken = fits.outcomes.back().seconds;
  return fmt::format(
      "{} needs more operations or channels in a thread block than MSCCL++ supports; the plan "
      "for MSCCL++ uses {} instead: {} instead of {}, {:+.1f}%",
      algorithm_text(best.plan.brackets.back().recipe),
      algorithm_text(fits.plan.brackets.back().recipe), time_text(taken), time_text(wanted),
      100 * (taken / wanted - 1));
}

}  // namespace

Result<std::string> write_mscclpp_file(const std::string& path, const synth::Topology& topology,
                                       const synth::Synthesis& made, const synth::Wishes& wishes,
                                       int box) {
  const synth::Plan& plan = made.plan;
  synth::MscclppOptions how{topology.name, box};
  if (plan.brackets.size() > 1)
    how.bytes_min = static_cast<std::uint64_t>(plan.brackets[plan.brackets.size() - 2].up_to) + 1;
  auto schedule = synth::expand(plan.brackets.back().recipe, plan.collective, plan.ranks);
  if (!schedule) return schedule.error();
  auto text = synth::mscclpp_json(schedule.value(), how);
  std::string note;
  if (!text) {
    synth::Wishes smaller = wishes;
    smaller.accepts = [box](const synth::Schedule& one) { return synth::fits_mscclpp(one, box); };
    auto fits = synth::synthesise(topology, plan.collective, {made.outcomes.back().bytes}, smaller);
    if (!fits) return text.error();
    if (!fits->verified) return Error{ErrorCode::kInternal, "not proven: " + fits->fault, ""};
    note = what_it_costs(made, fits.value());
    schedule = synth::expand(fits->plan.brackets.back().recipe, plan.collective, plan.ranks);
    if (!schedule) return schedule.error();
    text = synth::mscclpp_json(schedule.value(), how);
    if (!text) return text.error();
  }
  if (auto written = write_text_file(path, text.value()); !written) return written.error();
  return note;
}

}  // namespace dlcp::cli
