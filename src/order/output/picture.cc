#include "order/output/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "order/solve/cost.h"
#include "util/text/markup.h"

namespace dlcp::order {
namespace {

constexpr double kSize = 420;
constexpr double kRadius = 165;
constexpr std::size_t kNamesMax = 64;  // more names are not readable

struct Point {
  double x, y;
};

class Painter {
 public:
  Painter(const fabric::Fabric& fabric, double left) : fabric_(fabric), left_(left) {
    std::vector<int> hosts(fabric.size());
    for (std::size_t i = 0; i < hosts.size(); ++i)
      hosts[i] = static_cast<int>(i);
    std::ranges::stable_sort(hosts, {}, [&](int h) { return group_of(h); });
    at_.resize(hosts.size());
    // A gap between leaves is as wide as a host.
    const auto places = static_cast<double>(hosts.size() + fabric::leaves(fabric).size());
    double place = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      place += i > 0 && group_of(hosts[i]) != group_of(hosts[i - 1]) ? 2 : 1;
      const double angle = 2 * std::numbers::pi * place / places;
      at_[static_cast<std::size_t>(hosts[i])] = angle;
    }
  }

  std::string draw(const std::vector<int>& order, const std::string& title) {
    std::string text = fmt::format(
        "<text x='{:.0f}' y='24' text-anchor='middle' font-size='15'>{}: {} of {} hops cross "
        "leaves</text>\n",
        left_ + kSize / 2, title, crossings(fabric_, order), order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int a = order[i];
      const int b = order[(i + 1) % order.size()];
      const bool crosses = group_of(a) != group_of(b);
      const Point from = point(a, kRadius), to = point(b, kRadius);
      text += fmt::format(
          "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}' stroke-width='{}'/>\n",
          from.x, from.y, to.x, to.y, crosses ? "#d55e00" : "#999999", crosses ? "1.2" : "1");
    }
    for (std::size_t host = 0; host < fabric_.size(); ++host)
      text += mark(static_cast<int>(host));
    return text;
  }

 private:
  int group_of(int host) const { return fabric_.group_of[static_cast<std::size_t>(host)]; }

  Point point(int host, double radius) const {
    const double angle = at_[static_cast<std::size_t>(host)];
    return {left_ + kSize / 2 + radius * std::sin(angle),
            kSize / 2 + 20 - radius * std::cos(angle)};
  }

  std::string mark(int index) const {
    const fabric::Host& host = fabric_.hosts[static_cast<std::size_t>(index)];
    const Point at = point(index, kRadius);
    const double hue = std::fmod(137.508 * group_of(index), 360);
    const fabric::Group& group = fabric_.groups[static_cast<std::size_t>(group_of(index))];
    std::string text = fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='{}' fill='{}' stroke='{}'><title>{} on {}{}</title>"
        "</circle>\n",
        at.x, at.y, fabric_.size() > kNamesMax ? 2.5 : 5,
        host.silent ? std::string("#ffffff") : fmt::format("hsl({:.0f},60%,50%)", hue),
        host.slow || host.silent || group.slow ? "#cc0000" : "none", escaped(host.name),
        escaped(group.name),
        host.silent ? ", silent"
        : host.slow ? ", slow"
                    : "");
    if (fabric_.size() > kNamesMax) return text;
    const Point name = point(index, kRadius + 14);
    text += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-size='9'>{}</text>\n",
                        name.x, name.y + 3, name.x < left_ + kSize / 2 ? "end" : "start",
                        escaped(host.name));
    return text;
  }

  const fabric::Fabric& fabric_;
  double left_;
  std::vector<double> at_;  // angle by host
};

}  // namespace

std::string picture(const fabric::Fabric& fabric, const std::vector<int>& before,
                    const std::vector<int>& after) {
  std::string text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0:.0f}' height='{1:.0f}' viewBox='0 0 "
      "{0:.0f} "
      "{1:.0f}' font-family='sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n",
      2 * kSize, kSize + 30);
  text += Painter(fabric, 0).draw(before, "before");
  text += Painter(fabric, kSize).draw(after, "after");
  return text + "</svg>\n";
}

}  // namespace dlcp::order
