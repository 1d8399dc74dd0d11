// Predictions for jobs whose answer is known.
#include "whatif/predict/predict.h"

#include <string>

#include "catch.h"
#include "made_job.h"

using namespace dlcp::whatif;

namespace {

const Prediction& find(const Answer& answer, Change change, double rate = 0) {
  for (const Prediction& one : answer.predictions)
    if (one.change == change && one.rate_bits == rate) return one;
  FAIL("no such prediction");
  return answer.predictions[0];
}

double seconds(const Answer& answer, Change change, double rate = 0) {
  return find(answer, change, rate).estimate.seconds;
}

Answer ask(const MadeJob& job) {
  const double rates[] = {10e9};
  return answer(job.runs(), rates);
}

}  // namespace

TEST_CASE("latency and rate are separated by the sizes") {
  const MadeJob job;
  const Answer a = ask(job);
  CHECK_FALSE(a.cost.assumed);
  CHECK(a.cost.latency == Approx(job.latency).epsilon(0.01));
  CHECK(a.payload_bits == Approx(job.bits).epsilon(0.01));
  CHECK(a.collectives == 2);
  CHECK(a.now.seconds == Approx(job.step_seconds()).epsilon(0.001));
}

TEST_CASE("the infinitely fast network leaves the computation") {
  const MadeJob job;
  CHECK(seconds(ask(job), Change::kInfinite) == Approx(job.compute).epsilon(0.001));
}

TEST_CASE("another rate changes the bytes' part only") {
  const MadeJob job;
  MadeJob faster = job;
  faster.bits = 10e9 * kPayloadShare;
  CHECK(seconds(ask(job), Change::kRate, 10e9) == Approx(faster.step_seconds()).epsilon(0.01));
}

TEST_CASE("compression divides the bytes' part by the sampled ratio") {
  const MadeJob job;
  auto runs = job.runs();
  CHECK_FALSE(find(answer(runs, {}), Change::kCompression).known);
  for (Run& run : runs)
    run.samples = {{"float32", 3, 1.5}, {"int8", 3, 9}};
  MadeJob smaller = job;
  smaller.bits = job.bits * 1.5;
  CHECK(seconds(answer(runs, {}), Change::kCompression) ==
        Approx(smaller.step_seconds()).epsilon(0.01));
}

TEST_CASE("direct exchange takes two rounds") {
  MadeJob job;
  job.ranks = 8;
  const double rounds = 2 * job.latency * (2 - 14);  // two all-reduces
  CHECK(seconds(ask(job), Change::kDirect) == Approx(job.step_seconds() + rounds).epsilon(0.01));
}

TEST_CASE("waiting for a late rank is not network time, whatever the clocks show") {
  MadeJob job;
  job.late = 30e-3;
  const Answer a = ask(job);
  CHECK(a.ranks[0].waiting == Approx(job.late).epsilon(0.01));
  CHECK(a.ranks[3].waiting == Approx(0).margin(1e-5));
  CHECK(seconds(a, Change::kInfinite) == Approx(job.compute + job.late).epsilon(0.01));
  CHECK(seconds(a, Change::kEvenRanks) == Approx(job.step_seconds() - job.late).epsilon(0.01));
  CHECK_THAT(a.verdict, Contains("rank 3"));
}

TEST_CASE("without the tail every collective takes its median") {
  MadeJob job;
  job.steps = 60;
  job.tail = 2;
  MadeJob even = job;
  even.tail = 0;
  const Answer a = ask(job);
  CHECK(seconds(a, Change::kTail) == Approx(even.step_seconds()).epsilon(0.01));
  CHECK(a.now.high > a.now.low);
}

TEST_CASE("one size does not tell latency from bandwidth, and the range says so") {
  MadeJob job;
  job.sizes = {64 << 10};
  const Answer a = ask(job);
  CHECK(a.cost.assumed);
  const Prediction& direct = find(a, Change::kDirect);
  CHECK(direct.estimate.low < direct.estimate.high);
  CHECK(direct.estimate.low <= direct.estimate.seconds);
  CHECK(direct.estimate.seconds <= direct.estimate.high);
}

TEST_CASE("a job that computes is told that the network is not worth it") {
  MadeJob job;
  job.compute = 10;
  CHECK_THAT(ask(job).verdict, Contains("Not worth it"));
}

TEST_CASE("a job that waits for bytes is told to try compression") {
  MadeJob job;
  auto runs = job.runs();
  for (Run& run : runs)
    run.samples = {{"float32", 3, 1.5}};
  CHECK_THAT(answer(runs, {}).verdict, Contains("DLCP_COMPRESS=on"));
}

TEST_CASE("a job that waits for latency is told to try direct exchange") {
  MadeJob job;
  job.ranks = 8;
  job.sizes = {4096, 128 << 10};
  job.compute = 1e-3;
  CHECK_THAT(ask(job).verdict, Contains("NCCL_COLLNET_ENABLE=1"));
}

TEST_CASE("no records, or the file of one rank alone, still give an answer") {
  CHECK_THAT(answer(std::vector<Run>{Run{}}, {}).verdict, Contains("No collective"));
  CHECK_THAT(answer({}, {}).verdict, Contains("No collective"));
  const auto runs = MadeJob{}.runs();
  const Answer a = answer(std::span(runs).first(1), {});
  CHECK_FALSE(find(a, Change::kEvenRanks).known);
  CHECK_THAT(a.notes.at(0), Contains("1 of 4 ranks"));
}
