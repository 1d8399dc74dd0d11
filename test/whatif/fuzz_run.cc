// Whatever a profile holds is refused, or answered with finite numbers.
#include <cmath>
#include <string>

#include "fuzz_input.h"
#include "made_job.h"
#include "whatif/predict/predict.h"
#include "whatif/run/run_file.h"

using namespace dlcp::whatif;

std::vector<std::string> fuzz_seeds() {
  MadeJob job;
  job.ranks = 2;
  job.steps = 3;
  std::vector<std::string> seeds;
  for (const Run& run : job.runs())
    seeds.push_back(write_run(run));
  Run odd = job.runs()[0];
  odd.samples = {{"float32", 2, 1.5}};
  odd.kinds.push_back({"Send", "bfloat16", "", "", 1});
  odd.records[3].kind = 1;
  seeds.push_back(write_run(odd));
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto run = read_run(text, "fuzz");
  if (!run) return 0;
  const std::vector<Run> runs{run.value(), run.value()};
  const double rates[] = {10e9};
  const Answer a = answer(runs, rates);
  for (const Prediction& one : a.predictions)
    if (!std::isfinite(one.estimate.seconds) || !std::isfinite(one.estimate.low) ||
        !std::isfinite(one.estimate.high))
      __builtin_trap();
  return 0;
}
