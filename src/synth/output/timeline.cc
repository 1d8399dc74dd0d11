#include "synth/output/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "util/text/duration_text.h"
#include "util/text/markup.h"

namespace dlcp::synth {
namespace {

constexpr std::size_t kBarsMax = 20000;
constexpr double kWidth = 960, kLeft = 110, kTop = 40;

}  // namespace

std::string timeline_svg(const Topology& topology, const Schedule& schedule,
                         const Simulated& simulated, const std::string& title) {
  const double row = topology.ranks() <= 64 ? 16 : 4, whole = std::max(simulated.seconds, 1e-12);
  const double height = kTop + row * topology.ranks() + 30;
  std::vector<std::size_t> drawn(std::min(schedule.messages.size(), simulated.timings.size()));
  std::iota(drawn.begin(), drawn.end(), std::size_t{0});
  const auto length = [&](std::size_t i) {
    return simulated.timings[i].end - simulated.timings[i].begin;
  };
  std::stable_sort(drawn.begin(), drawn.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  drawn.resize(std::min(drawn.size(), kBarsMax));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n",
      kLeft + kWidth + 20, height);
  svg += fmt::format(
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"20\" "
      "font-size=\"14\">{}</text>\n",
      escaped(title));
  for (int rank = 0; rank < topology.ranks(); rank++) {
    const double y = kTop + row * rank;
    if (topology.ranks() <= 64)
      svg += fmt::format("<text x=\"10\" y=\"{}\">{}</text>\n", y + row - 4,
                         escaped(topology.rank_name(rank).substr(0, 15)));
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"#eee\"/>\n", kLeft,
                       kLeft + kWidth, y + row, y + row);
  }
  const int steps = std::max(schedule.steps(), 1);
  for (const std::size_t i : drawn) {
    const Message& m = schedule.messages[i];
    const Timing& t = simulated.timings[i];
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
        "fill=\"hsl({},70%,{}%)\" fill-opacity=\"0.6\"><title>{} to {}, step {}, "
        "{}</title></rect>\n",
        kLeft + kWidth * t.begin / whole, kTop + row * m.from + 1,
        std::max(kWidth * (t.end - t.begin) / whole, 0.3), row - 2, 300 * m.step / steps,
        m.reduce ? 40 : 60, escaped(topology.rank_name(m.from)), escaped(topology.rank_name(m.to)),
        m.step, duration_text(t.end - t.begin));
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\">0</text><text x=\"{}\" y=\"{}\" "
      "text-anchor=\"end\">{}</text>\n</svg>\n",
      kLeft, height - 8, kLeft + kWidth, height - 8, duration_text(simulated.seconds));
  return svg;
}

}  // namespace dlcp::synth
