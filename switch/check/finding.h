// Collects the findings of checks on one switch, each with the rule's name and the switch's line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "switch/model/problem.h"
#include "switch/plan/queues/layout.h"

namespace dlcp::fabric {

class Findings {
 public:
  Findings(std::string file, int line, std::string prefix)
      : file_(std::move(file)), line_(line), prefix_(std::move(prefix)) {}

  void error(const char* rule, std::string what, std::string seen = "", std::string expected = "",
             std::string hint = "", int line = 0) {
    add(Severity::kError, rule, std::move(what), line);
    found_.back().seen = std::move(seen);
    found_.back().expected = std::move(expected);
    found_.back().hint = std::move(hint);
  }
  void warning(const char* rule, std::string what, std::string hint = "", int line = 0) {
    add(Severity::kWarning, rule, std::move(what), line);
    found_.back().hint = std::move(hint);
  }
  void note(const char* rule, std::string what, std::string hint = "") {
    add(Severity::kNote, rule, std::move(what), 0);
    found_.back().hint = std::move(hint);
  }
  std::vector<Problem> take() { return std::move(found_); }

 private:
  void add(Severity severity, const char* rule, std::string what, int line) {
    Problem problem;
    problem.severity = severity;
    problem.file = file_;
    problem.line = line > 0 ? line : line_;
    problem.what = prefix_ + what;
    problem.rule = rule;
    found_.push_back(std::move(problem));
  }

  std::string file_;
  int line_;
  std::string prefix_;
  std::vector<Problem> found_;
};

// Parts of lint_switch (lint.h), each in its own file.
void lint_ports(Findings& findings,
                const SwitchPlan& plan);  // names, aggregates, trust
// Headroom and watchdogs of lossless classes; effects of requested features on other traffic.
void lint_lossless(Findings& findings, const SwitchPlan& plan, const SwitchIntent& device);
void lint_features(Findings& findings, const SwitchPlan& plan, const SwitchIntent& device);
void lint_egress(Findings& findings,
                 const SwitchPlan& plan);  // marks on egress

}  // namespace dlcp::fabric
