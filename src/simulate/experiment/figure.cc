#include "simulate/experiment/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "simulate/experiment/series.h"
#include "util/text/markup.h"

namespace dlcp::simulate {
namespace {

// Student's t for 95%, by degrees of freedom from 1; beyond the table, the normal distribution's
// value.
constexpr std::array<double, 15> kStudent = {12.706, 4.303, 3.182, 2.776, 2.571,
                                             2.447,  2.365, 2.306, 2.262, 2.228,
                                             2.201,  2.179, 2.160, 2.145, 2.131};
constexpr double kNormal = 1.96;

}  // namespace

Interval interval_of(const std::vector<double>& samples) {
  const auto n = static_cast<double>(samples.size());
  if (samples.empty()) return {};
  double mean = 0;
  for (const double sample : samples)
    mean += sample / n;
  double squares = 0;
  for (const double sample : samples)
    squares += (sample - mean) * (sample - mean);
  if (samples.size() < 2) return {mean, mean, mean};
  const std::size_t freedom = samples.size() - 1;
  const double t = freedom <= kStudent.size() ? kStudent[freedom - 1] : kNormal;
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

double quantile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double last = static_cast<double>(samples.size() - 1);
  const auto rank =
      std::clamp(std::ceil(share * static_cast<double>(samples.size())) - 1, 0.0, last);
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

const std::vector<FigureEntry>& figures() {
  static const std::vector<FigureEntry> all = {
      {"F1", "Training with parameter servers, compared with DCTCP and pFabric", training_figure},
      {"F2", "A training step", iteration_figure},
      {"F3", "Permutation: use of all paths", permutation_figure},
      {"F4", "Incast: many to one", incast_figure},
      {"F5", "Links that fail, slow down or lose packets silently", failure_figure},
      {"F6", "All-to-all", exchange_figure},
      {"F7", "Effect of a licensed job on its neighbours", neighbour_figure},
      {"F8", "Benefit of marking packets by worth", worth_figure},
      {"F9", "Licensed loss compared with exact transfer", licence_figure},
  };
  return all;
}

std::string figure_svg(const Figure& figure) {
  constexpr int kRow = 18;
  constexpr int kText = 420;
  constexpr int kBar = 400;
  const int height = kRow * (static_cast<int>(figure.rows.size()) + 3);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<text x=\"8\" y=\"20\" "
      "font-size=\"15\">{}: {}</text>\n",
      kText + kBar + 180, height, escaped(figure.name), escaped(figure.title));
  int y = 2 * kRow;
  for (const FigureRow& row : figure.rows) {
    double most = 0;
    for (const FigureRow& other : figure.rows)
      if (other.metric == row.metric && other.experiment == row.experiment)
        most = std::max(most, other.value.high);
    const auto x = [&](double value) {
      return kText + (most > 0 ? kBar * std::max(value, 0.0) / most : 0);
    };
    const bool ours = row.transport.rfind("dlcp", 0) == 0;
    svg += fmt::format("<text x=\"8\" y=\"{}\">{}, {}: {}</text>\n", y + 13,
                       escaped(row.experiment), escaped(row.transport), escaped(row.metric));
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"12\" fill=\"{}\"/>\n",
                       kText, y + 3, x(row.value.mean) - kText, ours ? "#2a78b8" : "#b0b0b0");
    svg += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"black\"/>\n",
                       x(row.value.low), x(row.value.high), y + 9, y + 9);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{:.4g} {}</text>\n", x(row.value.high) + 6,
                       y + 13, row.value.mean, escaped(row.unit));
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace dlcp::simulate
