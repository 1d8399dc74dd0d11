// Fills a figure: runs each case with each seed and computes its metrics from the outcomes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulate/contest.h"
#include "simulate/experiment/figure.h"

namespace dlcp::simulate {

struct Metric {
  std::string name;
  std::string unit;
  std::function<double(const Outcome&)> value;
};
Metric completion();   // us until the last byte has arrived
Metric sent_twice();   // retransmitted bytes, % of the bytes that had to be sent
Metric given_up();     // bytes, % of all
Metric lost_energy();  // % of the sum of squares of all licensed gradients
Metric busiest();      // busiest uplink of a leaf over the mean of its uplinks
Metric mean_time();    // mean duration of a transfer, us
Metric tail_time();    // 99th percentile of the duration of a transfer, us
// The same for neighbours' transfers.
Metric neighbour_mean();
Metric neighbour_tail();

struct Case {
  std::string experiment;
  std::string transport;  // name in the figure
  Setting setting;
  std::function<Workload(std::uint64_t seed)> workload;
};

class Series {
 public:
  Series(std::string name, std::string title, const FigureWishes& wishes);

  void parameter(const std::string& name, const std::string& value) {
    figure_.parameters.emplace_back(name, value);
  }
  void run(const Case& one, const std::vector<Metric>& metrics);
  // Mean over the seeds; 0 if it was not run.
  double mean(const std::string& experiment, const std::string& transport,
              const std::string& metric) const;
  // For each experiment, adds a note that compares the metric of two transports: the ratio, and
  // which is better if there are several seeds and the intervals do not overlap.
  void compare(const std::string& ours, const std::string& theirs, const std::string& metric);
  void note(const std::string& text) { figure_.notes.push_back(text); }
  Figure take() { return std::move(figure_); }

 private:
  const FigureRow* find(const std::string& experiment, const std::string& transport,
                        const std::string& metric) const;

  const FigureWishes& wishes_;
  Figure figure_;
};

// The figures, one file each.
Figure permutation_figure(const FigureWishes& wishes);
Figure incast_figure(const FigureWishes& wishes);
Figure failure_figure(const FigureWishes& wishes);
Figure exchange_figure(const FigureWishes& wishes);
Figure licence_figure(const FigureWishes& wishes);
Figure neighbour_figure(const FigureWishes& wishes);
Figure worth_figure(const FigureWishes& wishes);
Figure iteration_figure(const FigureWishes& wishes);
Figure training_figure(const FigureWishes& wishes);

// 144 hosts at 100 Gbit/s: 9 leaves of 16, 4 spines; 16 hosts if `quick`. Uplinks have the hosts'
// rate divided by `oversubscription`.
FabricPlan paper_fabric(bool quick, double oversubscription = 1);
std::string paper_fabric_words(bool quick);  // for a figure's parameters

}  // namespace dlcp::simulate
