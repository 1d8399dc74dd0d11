// Steps in a sequence of collectives.
#include "whatif/steps/steps.h"

#include "catch.h"
#include "made_job.h"

using namespace dlcp::whatif;

TEST_CASE("a step is the shortest sequence that repeats and begins after the longest pause") {
  MadeJob job;
  job.sizes = {1024, 4096, 1024};
  Run run = job.runs()[0];
  run.records.erase(run.records.begin());  // the recording begins within a step
  const Steps steps = find_steps(run);
  CHECK(steps.collectives == 3);
  CHECK(steps.agreement == 1);
  REQUIRE(steps.count() == 11);
  CHECK(steps.begins[0] == 2);
}

TEST_CASE("buckets of one size are one step if every nth pause is long") {
  MadeJob job;
  job.sizes = {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
  const Steps steps = find_steps(job.runs()[0]);
  CHECK(steps.collectives == 5);
  CHECK(steps.count() >= 11);
}

TEST_CASE("equal sequences are one step if a pause at any position of them is long now and then") {
  MadeJob job;
  job.sizes = {1024, 4096, 32768, 1024, 4096, 32768, 1024, 4096, 32768};
  Run run = job.runs()[0];
  run.records.erase(run.records.begin(), run.records.begin() + 2);
  const Steps steps = find_steps(run);
  CHECK(steps.collectives == 9);
  CHECK(steps.begins[0] == 7);
}

TEST_CASE("collectives outside the sequence lower the agreement only") {
  MadeJob job;
  job.steps = 40;
  Run run = job.runs()[0];
  run.records[33].bytes = 7;  // a loss value, say
  const Steps steps = find_steps(run);
  CHECK(steps.collectives == 2);
  CHECK(steps.agreement < 1);
  CHECK(steps.agreement > 0.9);
}

TEST_CASE("without a repeating sequence there are no steps") {
  MadeJob job;
  job.steps = 1;
  job.sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(find_steps(job.runs()[0]).count() == 0);
  CHECK(find_steps(Run{}).count() == 0);
}

TEST_CASE("a send with the number of a collective is not compared with it") {
  MadeJob job;
  job.late = 30e-3;
  auto runs = job.runs();
  runs[1].kinds.push_back({"Send", "float32", "", "", 1});
  const std::vector<Record> collectives = runs[1].records;
  for (Record record : collectives) {
    record.kind = 1;
    record.start_ns = record.end_ns = record.enqueued_ns;
    runs[1].records.push_back(record);
  }
  const Shares shares = measure_shares(runs);
  const StepShare& last = shares.ranks[3].steps.back();
  CHECK(last.waiting == Approx(0).margin(1e-5));
  CHECK(last.network == Approx(job.step_seconds() - job.compute - job.late).epsilon(0.01));
}
