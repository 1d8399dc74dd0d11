#include "cli/whatif/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_line/output/document.h"
#include "cli/command_line/terminal.h"
#include "util/text/duration_text.h"

namespace dlcp::cli {
namespace {

std::string rank_name(const whatif::RankSummary& rank) {
  return rank.rank < 0 ? "?" : fmt::format("{}", rank.rank);
}

std::string percent(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

Document ranks_table(const whatif::Answer& answer) {
  Document table;
  table.headings = {"rank", "step", "compute", "waiting", "network", "receiving", "overlap"};
  for (const whatif::RankSummary& rank : answer.ranks)
    table.rows.push_back({rank_name(rank), duration_text(rank.step), duration_text(rank.compute),
                          duration_text(rank.waiting), duration_text(rank.network),
                          percent(rank.blocked), percent(rank.concurrent)});
  return table;
}

Document predictions_table(const whatif::Answer& answer) {
  Document table;
  table.headings = {"step", "time", "range", "shorter by"};
  table.rows.push_back(
      {"as recorded", duration_text(answer.now.seconds), range_text(answer.now), ""});
  for (const whatif::Prediction& one : answer.predictions)
    table.rows.push_back({one.name, one.known ? duration_text(one.estimate.seconds) : "unknown",
                          one.known ? range_text(one.estimate) : "",
                          one.known ? gain_text(answer, one) : ""});
  return table;
}

// The assumption of all rates is the same and printed once.
std::string assumptions_text(const whatif::Answer& answer) {
  std::string text;
  bool rates = false;
  for (const whatif::Prediction& one : answer.predictions) {
    const bool rate = one.change == whatif::Change::kRate;
    if (rate && rates) continue;
    rates |= rate;
    text += wrapped(fmt::format("{}: {}{}", rate ? "at other rates" : one.name, one.assumption,
                                one.setting.empty() ? "" : fmt::format(" ({})", one.setting)),
                    output_width(), 2);
  }
  return text;
}

}  // namespace

std::string range_text(const whatif::Estimate& estimate) {
  if (estimate.high <= estimate.low) return "-";
  return fmt::format("{} to {}", duration_text(estimate.low), duration_text(estimate.high));
}

std::string gain_text(const whatif::Answer& answer, const whatif::Prediction& prediction) {
  if (answer.now.seconds <= 0) return "-";
  return fmt::format("{:.1f}%", 100 * (1 - prediction.estimate.seconds / answer.now.seconds));
}

std::string steps_text(const whatif::Answer& answer) {
  const std::string files = fmt::format("{} of {} ranks", answer.ranks.size(), answer.ranks_of_job);
  if (answer.collectives == 0) return fmt::format("No step was found in the files of {}.", files);
  return fmt::format(
      "{} steps of {} collectives, in the files of {}; {:.0f}% of the collectives equal the one a "
      "step earlier.",
      answer.steps, answer.collectives, files, 100 * answer.agreement);
}

std::string network_text(const whatif::Answer& answer) {
  if (answer.payload_bits <= 0) return "The network's rate is unknown.";
  const double mega = answer.payload_bits / 1e6;
  return fmt::format(
      "The network carries {} of payload per rank, and a round takes {} besides{}.",
      mega < 1000 ? fmt::format("{:.3g} Mbit/s", mega) : fmt::format("{:.3g} Gbit/s", mega / 1e3),
      duration_text(answer.cost.latency),
      answer.cost.assumed
          ? " (assumed)"
          : fmt::format(" (the sizes deviate by {:.0f}%)", 100 * answer.cost.error));
}

std::string ratios_text(const whatif::Answer& answer) {
  std::string text;
  for (const whatif::TypeRatio& one : answer.ratios)
    text += fmt::format("{}{} by {:.2f}{}", text.empty() ? "" : ", ",
                        one.type.empty() ? "DLCP's messages" : one.type, one.ratio,
                        one.samples > 0 ? fmt::format(" ({} samples)", one.samples) : "");
  return text.empty() ? "" : "Compression shortens " + text + ".";
}

std::string whatif_text(const whatif::Answer& answer) {
  const std::size_t width = output_width();
  std::string text = wrapped(steps_text(answer), width);
  text += wrapped(
      fmt::format("A step computes {}, waits for late ranks {}, uses the network {}.",
                  percent(answer.compute), percent(answer.waiting), percent(answer.network)),
      width);
  text += "\n" + ranks_table(answer).to_text(width) + "\n";
  text += wrapped(network_text(answer), width);
  if (const std::string ratios = ratios_text(answer); !ratios.empty())
    text += wrapped(ratios, width);
  text += "\n" + predictions_table(answer).to_text(width) + "\nAssumptions\n";
  text += assumptions_text(answer) + "\n";
  for (const std::string& note : answer.notes)
    text += wrapped("note: " + note, width);
  return text + wrapped(answer.verdict, width);
}

nlohmann::ordered_json whatif_json(const whatif::Answer& answer) {
  nlohmann::ordered_json json;
  const auto estimate = [](const whatif::Estimate& e) {
    return nlohmann::ordered_json{{"seconds", e.seconds}, {"low", e.low}, {"high", e.high}};
  };
  json["steps"] = answer.steps;
  json["collectives"] = answer.collectives;
  json["agreement"] = answer.agreement;
  json["ranks_of_job"] = answer.ranks_of_job;
  json["shares"] = {
      {"compute", answer.compute}, {"waiting", answer.waiting}, {"network", answer.network}};
  json["ranks"] = nlohmann::ordered_json::array();
  for (const whatif::RankSummary& rank : answer.ranks)
    json["ranks"].push_back({{"rank", rank.rank},
                             {"steps", rank.steps},
                             {"step", rank.step},
                             {"compute", rank.compute},
                             {"waiting", rank.waiting},
                             {"network", rank.network},
                             {"receiving", rank.blocked},
                             {"overlap", rank.concurrent}});
  json["payload_bits_per_second"] = answer.payload_bits;
  json["latency_seconds"] = answer.cost.latency;
  json["latency_assumed"] = answer.cost.assumed;
  json["fit_error"] = answer.cost.error;
  json["ratios"] = nlohmann::ordered_json::array();
  for (const whatif::TypeRatio& one : answer.ratios)
    json["ratios"].push_back({{"type", one.type}, {"ratio", one.ratio}, {"samples", one.samples}});
  json["now"] = estimate(answer.now);
  json["predictions"] = nlohmann::ordered_json::array();
  for (const whatif::Prediction& one : answer.predictions) {
    nlohmann::ordered_json row;
    row["name"] = one.name;
    row["known"] = one.known;
    if (one.known) row.update(estimate(one.estimate));
    if (one.rate_bits > 0) row["rate_bits_per_second"] = one.rate_bits;
    row["assumption"] = one.assumption;
    row["setting"] = one.setting;
    json["predictions"].push_back(row);
  }
  json["notes"] = answer.notes;
  json["verdict"] = answer.verdict;
  return json;
}

}  // namespace dlcp::cli
