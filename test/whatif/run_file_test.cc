// The file of a run: what is written is read back, and what is damaged is refused by name.
#include "whatif/run/run_file.h"

#include "catch.h"
#include "made_job.h"
#include "whatif/run/overlap.h"

using namespace dlcp::whatif;

namespace {

std::string refusal(const std::string& text) {
  const auto run = read_run(text, "run-3.json");
  return run.ok() ? "accepted" : run.error().message();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a run file is read back as it was written") {
  Run run = MadeJob{}.runs()[3];
  run.host = "node \"7\"\n\xff";
  run.samples = {{"float32", 12, 1.25}};
  run.buffers = "\033]0;x\a";
  run.kinds[0].function = "All\033[2JReduce";
  run.records[2].blocked_ns = 17;
  run.records[2].overlap_ns = 18;
  const auto read = read_run(write_run(run), "x");
  REQUIRE(read.ok());
  CHECK(read.value().rank == 3);
  CHECK(read.value().ranks == 4);
  CHECK(read.value().communicators[0].id == 0xabc);
  // Texts are printed, so control characters are replaced.
  CHECK(read.value().host.find_first_of("\n\xff") == std::string::npos);
  CHECK(read.value().buffers == "?]0;x?");
  CHECK(read.value().kinds[0].function == "All?[2JReduce");
  run.kinds[0].function = read.value().kinds[0].function;
  CHECK(read.value().kinds == run.kinds);
  CHECK(read.value().samples[0].ratio == 1.25);
  REQUIRE(read.value().records.size() == run.records.size());
  const Record &one = read.value().records[2], &other = run.records[2];
  CHECK(one.sequence == other.sequence);
  CHECK(one.start_ns == other.start_ns);
  CHECK(one.end_ns == other.end_ns);
  CHECK(one.blocked_ns == 17);
  CHECK(one.overlap_ns == 18);
}

TEST_CASE("a run without records is a run") {
  CHECK(refusal(write_run(Run{})) == "accepted");
}

TEST_CASE("a file that is cut off or of another kind is refused with its name and the reason") {
  const std::string text = write_run(MadeJob{}.runs()[0]);
  CHECK_THAT(refusal(text.substr(0, text.size() / 2)), Contains("run-3.json"));
  CHECK_THAT(refusal(""), Contains("not a whole profile"));
  CHECK_THAT(refusal("{}"), Contains("dlcp-profile"));
  CHECK_THAT(refusal("[1]"), Contains("dlcp-profile"));
  const std::string lists = std::string(300'000, '[') + std::string(300'000, ']');
  CHECK_THAT(refusal(replaced(text, "\"version\": 1", "\"version\": " + lists)),
             Contains("in each other"));
  CHECK_THAT(refusal(replaced(text, "\"version\": 1", "\"version\": 2")), Contains("version is 2"));
}

TEST_CASE("records that contradict the rest of the file are refused") {
  MadeJob job;
  job.steps = 1;
  job.sizes = {64};
  Run run = job.runs()[0];
  run.records[0].kind = 1;
  CHECK_THAT(refusal(write_run(run)), Contains("kind is 1"));
  run = job.runs()[0];
  run.records[0].end_ns = run.records[0].start_ns - 1;
  CHECK_THAT(refusal(write_run(run)), Contains("end_ns"));
  run = job.runs()[0];
  run.rank = 4;
  CHECK_THAT(refusal(write_run(run)), Contains("rank 4"));
  run = job.runs()[0];
  run.samples = {{"float32", 1, 0.5}};
  CHECK_THAT(refusal(write_run(run)), Contains("ratio"));
}

TEST_CASE("the time with two or more records in flight is each one's overlap") {
  std::vector<Record> records(4);
  const std::int64_t times[][2] = {{0, 10}, {5, 20}, {8, 9}, {20, 30}};
  for (std::size_t i = 0; i < 4; i++) {
    records[i].start_ns = times[i][0];
    records[i].end_ns = times[i][1];
  }
  find_overlaps(records);
  CHECK(records[0].overlap_ns == 5);
  CHECK(records[1].overlap_ns == 5);
  CHECK(records[2].overlap_ns == 1);
  CHECK(records[3].overlap_ns == 0);
}
