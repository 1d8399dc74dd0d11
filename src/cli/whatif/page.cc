#include "cli/whatif/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/whatif/report.h"
#include "util/text/duration_text.h"
#include "util/text/markup.h"

namespace dlcp::cli {
namespace {

constexpr double kText = 230, kBar = 520, kRow = 24;
constexpr std::size_t kRanksDrawn = 64;
constexpr const char* kCompute = "#6a9f58";
constexpr const char* kWaiting = "#d8a13c";
constexpr const char* kNetwork = "#2a78b8";

constexpr const char* kStyle =
    R"(body { font-family: sans-serif; max-width: 60em; margin: 2em auto; }
table { border-collapse: collapse; } td, th { padding: 0.2em 0.8em; text-align: left; }
td { border-top: 1px solid #ddd; vertical-align: top; } .verdict { font-size: 1.2em; })";

std::string picture(std::size_t rows, const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n{}</svg>\n",
      kText + kBar + 130, kRow * static_cast<double>(rows) + 4, content);
}

std::string label(double y, const std::string& text) {
  return fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n", y + 15, escaped(text));
}

std::string bar(double x, double y, double width, const char* colour, const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\"><title>{}</title>"
      "</rect>\n",
      kText + x, y + 3, width, colour, escaped(title));
}

// A bar for each rank: where its median step goes.
std::string ranks_picture(const whatif::Answer& answer) {
  const std::size_t drawn = std::min(answer.ranks.size(), kRanksDrawn);
  double longest = 1e-12;
  for (std::size_t i = 0; i < drawn; i++)
    longest = std::max(longest,
                       answer.ranks[i].compute + answer.ranks[i].waiting + answer.ranks[i].network);
  std::string content;
  for (std::size_t i = 0; i < drawn; i++) {
    const whatif::RankSummary& rank = answer.ranks[i];
    const double y = kRow * static_cast<double>(i);
    content += label(y, rank.rank < 0 ? "a rank" : fmt::format("rank {}", rank.rank));
    double x = 0;
    const auto part = [&](double seconds, const char* colour, const char* name) {
      const double width = kBar * seconds / longest;
      content += bar(x, y, width, colour, fmt::format("{}: {}", name, duration_text(seconds)));
      x += width;
    };
    part(rank.compute, kCompute, "computes");
    part(rank.waiting, kWaiting, "waits for a late rank");
    part(rank.network, kNetwork, "network");
    content += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", kText + x + 6, y + 15,
                           duration_text(rank.step));
  }
  return picture(drawn, content);
}

// A bar for each prediction, with its range.
std::string predictions_picture(const whatif::Answer& answer) {
  double longest = std::max(answer.now.high, 1e-12);
  for (const whatif::Prediction& one : answer.predictions)
    if (one.known) longest = std::max(longest, one.estimate.high);
  std::string content;
  std::size_t rows = 0;
  const auto row = [&](const std::string& name, const whatif::Estimate& estimate,
                       const char* colour) {
    const double y = kRow * static_cast<double>(rows++);
    const auto width = [&](double seconds) { return kBar * seconds / longest; };
    content += label(y, name);
    content += bar(0, y, width(estimate.seconds), colour, range_text(estimate));
    content +=
        fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"black\"/>\n",
                    kText + width(estimate.low), kText + width(estimate.high), y + 11, y + 11);
    content += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                           kText + width(std::max(estimate.high, estimate.seconds)) + 6, y + 15,
                           duration_text(estimate.seconds));
  };
  row("as recorded", answer.now, "#888888");
  for (const whatif::Prediction& one : answer.predictions)
    if (one.known) row(one.name, one.estimate, one.setting.empty() ? "#b0b0b0" : kNetwork);
  return picture(rows, content);
}

std::string predictions_html(const whatif::Answer& answer) {
  std::string table =
      "<table>\n<tr><th>step</th><th>time</th><th>range</th><th>shorter by</th><th>assumption</th>"
      "<th>setting</th></tr>\n";
  for (const whatif::Prediction& one : answer.predictions)
    table += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        escaped(one.name), one.known ? duration_text(one.estimate.seconds) : "unknown",
        one.known ? range_text(one.estimate) : "", one.known ? gain_text(answer, one) : "",
        escaped(one.assumption), escaped(one.setting));
  return table + "</table>\n";
}

}  // namespace

std::string whatif_page(const whatif::Answer& answer) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>dlcp "
      "whatif</title>\n"
      "<style>{}</style></head><body>\n<h1>Is the network the bottleneck?</h1>\n"
      "<p class=\"verdict\">{}</p>\n<p>{}</p>\n",
      kStyle, escaped(answer.verdict), escaped(steps_text(answer)));
  page += fmt::format(
      "<h2>Where a step's time goes</h2>\n<p><span style=\"color:{}\">computes</span> {:.0f}%, "
      "<span style=\"color:{}\">waits for late ranks</span> {:.0f}%, <span "
      "style=\"color:{}\">network</span> {:.0f}%</p>\n",
      kCompute, 100 * answer.compute, kWaiting, 100 * answer.waiting, kNetwork,
      100 * answer.network);
  page += ranks_picture(answer);
  if (answer.ranks.size() > kRanksDrawn)
    page += fmt::format("<p>The first {} of {} ranks.</p>\n", kRanksDrawn, answer.ranks.size());
  page += fmt::format("<p>{} {}</p>\n<h2>What would change it</h2>\n",
                      escaped(network_text(answer)), escaped(ratios_text(answer)));
  page += predictions_picture(answer) + predictions_html(answer);
  for (const std::string& note : answer.notes)
    page += fmt::format("<p>Note: {}</p>\n", escaped(note));
  return page + "</body></html>\n";
}

}  // namespace dlcp::cli
