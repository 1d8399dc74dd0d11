// Fills a figure: runs each case with each seed and takes its metrics from the outcomes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simulate/contest.h"
#include "simulate/figures/figure.h"

namespace dlcp::simulate {

struct Metric {
  std::string name;
  std::string unit;
  std::function<double(const Outcome&)> value;
};
Metric completion();   // us until the last byte has arrived
Metric sent_twice();   // bytes, % of those that had to be sent
Metric given_up();     // bytes, % of all
Metric lost_energy();  // % of the sum of squares of all licensed gradients
Metric busiest();      // uplink of a leaf over the mean of its uplinks
Metric mean_time();    // us that a transfer took, in the mean
Metric tail_time();    // and that one in a hundred took longer than
// The same of neighbours' transfers.
Metric neighbour_mean();
Metric neighbour_tail();

struct Case {
  std::string experiment;
  std::string transport;  // as the figure calls it
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
  // Mean of what was run; 0 if it was not.
  double mean(const std::string& experiment, const std::string& transport,
              const std::string& metric) const;
  // One transport's metric against another's over all experiments, in a sentence that says who is
  // ahead and by how much; apart only where the intervals are.
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

// 144 hosts at 100 Gbit/s: 9 leaves of 16, 4 spines; or 16 hosts where it has to be quick. Uplinks
// carry as much as the hosts, or a share of it.
FabricPlan paper_fabric(bool quick, double oversubscription = 1);
std::string paper_fabric_words(bool quick);  // for a figure's parameters

}  // namespace dlcp::simulate
