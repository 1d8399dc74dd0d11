#include "simulate/experiment/figure.h"

#include <set>

#include "catch.h"
#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

TEST_CASE("a confidence interval is Student's, and that of one sample has no width") {
  const Interval one = interval_of({5});
  CHECK(one.low == 5);
  CHECK(one.high == 5);
  const Interval three = interval_of({1, 2, 3});
  CHECK(three.mean == Approx(2));
  CHECK(three.high == Approx(2 + 4.303 / std::sqrt(3.0)).epsilon(1e-4));
}

TEST_CASE("a quantile is the smallest sample that at most that share exceeds") {
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({3, 1, 2}, 0.99) == 3);
  CHECK(quantile({3, 1, 2}, 0.01) == 1);
  CHECK(quantile({}, 0.5) == 0);
}

TEST_CASE("quick figures have rows of all their transports, and name the best") {
  FigureWishes wishes;
  wishes.quick = true;
  wishes.seeds = 1;
  for (const FigureEntry& entry : figures()) {
    const Figure figure = entry.make(wishes);
    INFO(entry.name);
    CHECK(figure.name == entry.name);
    CHECK(figure.seeds == std::vector<std::uint64_t>{1});
    CHECK_FALSE(figure.parameters.empty());
    CHECK_FALSE(figure.notes.empty());
    std::set<std::string> transports;
    for (const FigureRow& row : figure.rows) {
      transports.insert(row.transport);
      CHECK(row.value.low <= row.value.mean);
      CHECK(row.value.mean <= row.value.high);
    }
    CHECK(transports.size() >= 2);
    const std::string svg = figure_svg(figure);
    CHECK(svg.find("</svg>") != std::string::npos);
  }
}

TEST_CASE("notes are about transports that were run") {
  FigureWishes wishes;
  wishes.quick = true;
  wishes.seeds = 1;
  wishes.only = "nscc";
  CHECK(exchange_figure(wishes).notes.size() == 1);
  for (const char* only : {"no fault", "no host pauses"}) {
    wishes.only = only;
    for (const std::string& note : failure_figure(wishes).notes)
      CHECK_THAT(note, !Contains(" 0.00 times"));
  }
  wishes.only = "by worth";
  CHECK(worth_figure(wishes).notes.empty());
}

TEST_CASE("if intervals overlap no transport is named the best, and with one seed none") {
  const auto notes_of = [](std::size_t seeds) {
    FigureWishes wishes;
    wishes.seeds = seeds;
    Series series("X", "x", wishes);
    Setting setting;
    setting.fabric = single_switch(4, Wire{});
    setting.contender = Contender::kNscc;
    const auto load = [](std::uint64_t bytes) {
      return [bytes](std::uint64_t seed) { return permutation(4, bytes + seed * 8192, seed); };
    };
    const Metric time = completion();
    series.run({"c", "short", setting, load(40'000)}, {time});
    series.run({"c", "same", setting, load(40'000)}, {time});
    series.run({"c", "long", setting, load(4'000'000)}, {time});
    series.compare("short", "same", "completion");
    series.compare("short", "long", "completion");
    series.compare("long", "short", "completion");
    return series.take().notes;
  };
  const auto two = notes_of(2);
  REQUIRE(two.size() == 3);
  CHECK_THAT(two[0], Contains("no significant difference"));
  CHECK_THAT(two[1], Contains("better"));
  CHECK_THAT(two[2], Contains("WORSE"));
  for (const std::string& note : notes_of(1))
    CHECK_THAT(note, Contains("one seed, so not judged"));
}

}  // namespace
}  // namespace dlcp::simulate
