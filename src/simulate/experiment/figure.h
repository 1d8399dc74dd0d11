// A figure: the compared cases, their parameters, and the results with 95% intervals over seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcp::simulate {

struct Interval {
  double mean = 0;
  double low = 0;  // of the 95% interval of the mean (Student's t); with one sample: the mean
  double high = 0;
};
Interval interval_of(const std::vector<double>& samples);
// The smallest sample x such that at least this share of all samples is <= x.
double quantile(std::vector<double> samples, double share);

struct FigureRow {
  std::string experiment;  // "permutation of 144, 16 paths"
  std::string transport;
  std::string metric;
  std::string unit;
  Interval value;
};

struct Figure {
  std::string name;
  std::string title;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::uint64_t> seeds;
  std::vector<FigureRow> rows;
  std::vector<std::string> notes;  // conclusions, including cases in which DLCP loses
};

struct FigureWishes {
  bool quick = false;     // small fabrics and short transfers
  bool placed = false;    // DLCP's cards place data (DLCP_ROCE_PLACEMENT)
  std::size_t seeds = 3;  // 1 .. 1000
  std::string only;       // runs only cases whose experiment or transport contains it; empty: all
  std::function<void(const std::string&)> progress;
};

struct FigureEntry {
  std::string_view name;
  std::string_view title;
  Figure (*make)(const FigureWishes& wishes);
};
const std::vector<FigureEntry>& figures();

// A bar for each row, one group for each metric.
std::string figure_svg(const Figure& figure);

}  // namespace dlcp::simulate
