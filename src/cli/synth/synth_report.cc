#include "cli/synth/synth_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_line/output/document.h"
#include "cli/command_line/terminal.h"
#include "util/text/duration_text.h"

namespace dlcp::cli {
namespace {

std::string size_text(double bytes) {
  const char* const units[] = {"", "K", "M", "G", "T"};
  int unit = 0;
  for (const double step = 1024; bytes >= step && unit < 4; unit++)
    bytes /= step;
  return fmt::format("{:.4g}{}", bytes, units[unit]);
}

std::string gain_text(double theirs, double ours) {
  return theirs > 0 && ours > 0 ? fmt::format("{:.2f}x", theirs / ours) : "-";
}

}  // namespace

std::string time_text(double seconds) {
  return seconds <= 0 ? "-" : duration_text(seconds, 4);
}

std::string algorithm_text(const synth::Recipe& recipe) {
  return recipe.slices > 1 ? fmt::format("{}, {} slices", recipe.name, recipe.slices) : recipe.name;
}

std::string SynthReport::to_text() const {
  const auto& s = synthesis;
  std::string text = fmt::format("{} of {} ranks on {}\n", synth::name_of(s.plan.collective),
                                 s.plan.ranks, s.plan.topology);
  for (const std::string& note : topology.notes)
    text += wrapped("note: " + note, output_width());
  if (s.plan.ranks > 1)
    text += wrapped(fmt::format("bound {:.4g} GB/s ({}), at least {}", s.bound.rate * 1e-9,
                                s.bound.reason, time_text(s.bound.latency)),
                    output_width());
  Document table;
  table.headings = {"size", "time", "of bound", "ring", "tree", "algorithm"};
  for (const synth::Outcome& o : s.outcomes) {
    table.rows.push_back(
        {size_text(o.bytes), time_text(o.seconds), fmt::format("{:.1f}%", 100 * o.ratio()),
         gain_text(o.ring_seconds, o.seconds), gain_text(o.tree_seconds, o.seconds),
         algorithm_text(s.plan.brackets[o.bracket].recipe)});
  }
  text += "\n" + table.to_text(output_width());
  text += "\nring, tree: time of NCCL's ring and tree (ranks as given) relative to the plan\n";
  if (s.verified)
    text += wrapped(fmt::format("proven: every contribution counts exactly once, and there is "
                                "no deadlock; {} of {} ranks take part; {:.1f} s",
                                s.ranks_taking_part, s.plan.ranks, seconds),
                    output_width());
  else
    text += wrapped("NOT PROVEN: " + s.fault, output_width());
  return text;
}

nlohmann::ordered_json SynthReport::to_json() const {
  const auto& s = synthesis;
  nlohmann::ordered_json brackets = nlohmann::ordered_json::array();
  const auto numbers = [&](const synth::Outcome& o) {
    nlohmann::ordered_json json;
    json["size"] = o.bytes;
    json["algorithm"] = algorithm_text(s.plan.brackets[o.bracket].recipe);
    json["plan_seconds"] = o.seconds;
    json["bound_seconds"] = o.bound_seconds;
    json["ratio"] = o.ratio();
    json["ring_seconds"] =
        o.ring_seconds > 0 ? nlohmann::ordered_json(o.ring_seconds) : nlohmann::ordered_json();
    json["tree_seconds"] =
        o.tree_seconds > 0 ? nlohmann::ordered_json(o.tree_seconds) : nlohmann::ordered_json();
    return json;
  };
  for (const synth::Outcome& o : s.outcomes)
    brackets.push_back(numbers(o));
  const synth::Outcome& last = s.outcomes.back();
  nlohmann::ordered_json json;
  json["topology"] = s.plan.topology;
  json["collective"] = synth::name_of(s.plan.collective);
  json["ranks"] = s.ranks_taking_part;
  json["size"] = last.bytes;
  json["algorithm"] = algorithm_text(s.plan.brackets[last.bracket].recipe);
  json["bound_gb_per_s"] =
      s.plan.ranks > 1 ? nlohmann::ordered_json(s.bound.rate * 1e-9) : nlohmann::ordered_json();
  json["bound_reason"] = s.bound.reason;
  json["plan_gb_per_s"] = last.seconds > 0
                              ? nlohmann::ordered_json(last.bytes / last.seconds * 1e-9)
                              : nlohmann::ordered_json();
  json["ratio"] = last.ratio();
  json["seconds"] = seconds;
  json["verified"] = s.verified;
  json["fault"] = s.fault.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(s.fault);
  json["notes"] = topology.notes;
  json["sizes"] = brackets;
  return json;
}

}  // namespace dlcp::cli
