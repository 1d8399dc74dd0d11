// Output of verbs: problems as text on standard error, or everything as one JSON object on standard
// output. Only output.cc includes the JSON library.
#pragma once

#include <string>
#include <vector>

#include "switch/capability/targets.h"
#include "switch/check/trace.h"
#include "switch/model/problem.h"
#include "switch/plan/plan.h"
#include "switch/vendors/vendor.h"

namespace dlcp::fabric::cli {

// Joins equal problems of several switches into one: "leaf1 (and 15 more): ...".
std::vector<Problem> collapsed(const std::vector<Problem>& problems);

// "1 switch", "2 errors".
std::string counted(std::size_t count, std::string_view noun);

struct PrintOptions {
  bool notes = false;  // print notes, too
  bool all = false;    // print every problem, not only the first ones of each kind
};

// Prints text to standard error: see message_list.h.
void print_problems(const std::vector<Problem>& problems, PrintOptions options);

struct Rendered {
  std::string name;
  Rendering rendering;
};

struct TracedPath {
  std::vector<const SwitchPlan*> switches;
  std::vector<ClassTrace> classes;
};

struct Verified {
  std::string name;
  std::vector<VerifyCommand> commands;
  std::vector<Finding> findings;
};

std::string problems_json(const std::vector<Problem>& problems);
std::string plans_json(const std::vector<SwitchPlan>& plans, const std::vector<Problem>& problems);
std::string changes_json(const std::vector<Rendered>& switches,
                         const std::vector<Problem>& problems);
std::string targets_json(const std::vector<TargetRow>& targets);
std::string files_json(const std::vector<std::string>& files, const std::vector<Problem>& problems);
std::string traces_json(const std::vector<TracedPath>& paths, const std::vector<Problem>& problems);
std::string verified_json(const std::vector<Verified>& switches,
                          const std::vector<Problem>& problems);

}  // namespace dlcp::fabric::cli
