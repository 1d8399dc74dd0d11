// The output of `dlcp stats`, `top` and Prometheus for given snapshots; no process is read.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "catch.h"
#include "cli/command_line/text_file.h"
#include "cli/stats/output/formats.h"
#include "cli/stats/pages/launch.h"
#include "cli/stats/pages/snapshot.h"
#include "cli/stats/top/top_view.h"

using namespace dlcp;
using namespace dlcp::cli;
using core::Counter;

namespace {

ProcessSnapshot process(int pid, const std::string& rank, std::uint64_t sent) {
  ProcessSnapshot one;
  one.pid = pid;
  one.command = "python3";
  one.version = "1.2.3";
  one.user = "alice";
  one.launch = {"77", rank};
  one.started_at = 1000;
  engine::LiveDevice device;
  device.name = "eth0";
  device.datapath = "udp";
  const auto set = [&](Counter counter, std::uint64_t value) {
    device.counters[static_cast<std::size_t>(counter)] = value;
  };
  set(Counter::kBytesSent, sent);
  set(Counter::kBytesReceived, sent / 2);
  set(Counter::kBytesRetransmitted, sent / 100);
  set(Counter::kDroppedUnauthentic, 3);
  one.devices.push_back(device);
  engine::LiveCommunicator row;
  row.licensed_bytes = sent;
  row.lost_bytes = sent / 50;
  row.budget_used_ppm = 500'000;
  row.sends.add(1500us);
  row.sends.add(3us);
  one.communicators = {row, row};
  return one;
}

bool has_line(const std::string& text, const std::string& wanted) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line == wanted) return true;
  return false;
}

}  // namespace

TEST_CASE("a launcher's variables give the job and the rank") {
  using namespace std::string_literals;
  const Launch slurm = launch_of("A=b\0SLURM_JOB_ID=42\0SLURM_PROCID=3\0"s);
  CHECK(slurm.job == "42");
  CHECK(slurm.rank == "3");
  const Launch torch = launch_of("XRANK=9\0RANK=5\0TORCHELASTIC_RUN_ID=run\0SLURM_PROCID=0\0"s);
  CHECK(torch.job == "run");
  CHECK(torch.rank == "5");
  CHECK(launch_of("OMPI_COMM_WORLD_RANK=1").rank == "1");
  CHECK(launch_of("RANK=1\n2\0"s).rank == "1?2");
  CHECK(launch_of("").job == "");
}

TEST_CASE("metrics have labels that outlive a process, and sums that can be added") {
  const std::string text = to_prometheus({process(10, "0", 1000)}, "node1");
  const std::string labels = R"(host="node1",user="alice",job_id="77",rank="0")";
  CHECK(has_line(text, R"(dlcp_processes{host="node1"} 1)"));
  CHECK(has_line(text, "dlcp_build_info{" + labels + R"(,version="1.2.3"} 1)"));
  const std::string device = labels + R"(,device="eth0",datapath="udp")";
  CHECK(has_line(text, "dlcp_bytes_sent_total{" + device + "} 1000"));
  CHECK(has_line(text, "dlcp_dropped_packets_total{" + device + R"(,reason="unauthentic"} 3)"));
  CHECK(has_line(text, "dlcp_licensed_bytes_total{" + device + "} 2000"));
  CHECK(has_line(text, "dlcp_loss_budget_used_ratio{" + device + "} 0.5"));
  const std::string send = "{" + device + R"(,side="send")";
  CHECK(has_line(text, "dlcp_message_seconds_bucket" + send + R"(,le="4e-06"} 2)"));
  CHECK(has_line(text, "dlcp_message_seconds_bucket" + send + R"(,le="0.001024"} 2)"));
  CHECK(has_line(text, "dlcp_message_seconds_bucket" + send + R"(,le="0.002048"} 4)"));
  CHECK(has_line(text, "dlcp_message_seconds_bucket" + send + R"(,le="+Inf"} 4)"));
  CHECK(has_line(text, "dlcp_message_seconds_sum" + send + "} 0.003006"));
  CHECK(has_line(text, "dlcp_message_seconds_count" + send + "} 4"));
  CHECK(text.find("pid=") == std::string::npos);
}

TEST_CASE("two processes that cannot be distinguished otherwise have their ids") {
  const std::string text = to_prometheus({process(10, "", 1), process(11, "", 2)}, "n");
  CHECK_THAT(text, Contains(R"(rank="",pid="10")") && Contains(R"(rank="",pid="11")"));
}

TEST_CASE("two copies of the plugin in a process have different labels") {
  const std::string text = to_prometheus({process(10, "", 1), process(10, "", 1)}, "node");
  CHECK_THAT(text,
             Contains(R"(rank="",pid="10"} )") && Contains(R"(rank="",pid="10",plugin="2"} )"));
}

TEST_CASE("between jobs the metrics exist as well") {
  CHECK(has_line(to_prometheus({}, "n\"1"), R"(dlcp_processes{host="n\"1"} 0)"));
}

TEST_CASE("a text file is replaced at once or not at all") {
  const auto folder = std::filesystem::temp_directory_path() / "dlcp-textfile-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string path = folder / "dlcp.prom";
  REQUIRE(write_text_file(path, "one\n").ok());
  REQUIRE(write_text_file(path, "two\n").ok());
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "two\n");
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  const auto failed = write_text_file(folder / "none" / "x", "");
  REQUIRE_FALSE(failed.ok());
  CHECK_THAT(failed.error().message(), Contains("none/x"));
  CHECK(read_text_file(path).value() == "two\n");
  CHECK_THAT(read_text_file(folder).error().message(), Contains(folder.string()));
  std::filesystem::remove_all(folder);
}

TEST_CASE("a special file is written to and not replaced") {
  const auto folder = std::filesystem::temp_directory_path() / "dlcp-textfile-pipe";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  REQUIRE(write_text_file(path, "one\n").ok());
  char text[8] = {};
  CHECK(read(reader, text, sizeof text) == 4);
  CHECK(std::string(text) == "one\n");
  close(reader);
  CHECK(std::filesystem::is_fifo(path));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("top shows the changes between two snapshots") {
  const std::vector<ProcessSnapshot> before = {process(10, "0", 1'000'000'000)};
  std::vector<ProcessSnapshot> after = {process(10, "0", 3'500'000'000), process(11, "1", 99)};
  auto rows = top_rows(before, after, std::chrono::duration<double>(2));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].sent_gbps == Approx(10));
  CHECK(rows[0].received_gbps == Approx(5));
  CHECK(rows[0].resent_share == Approx(0.01));
  CHECK(rows[0].lost_share == Approx(0.02));
  CHECK(rows[0].licensed);
  CHECK(rows[1].sent_gbps == 0);  // it has just appeared
  after[0].started_at = 2000;     // another process with the same id
  CHECK(top_rows(before, after, std::chrono::duration<double>(2))[0].sent_gbps == 0);
}

TEST_CASE("top fits any terminal and sorts by any column") {
  std::vector<TopRow> rows;
  for (int i = 0; i < 30; ++i) {
    TopRow row{1000 + i, "averylongusername", std::to_string(i), "job", "enp3s0f1np1", "python3"};
    row.sent_gbps = i % 7;
    row.p99 = Duration(1000 * i);
    rows.push_back(row);
  }
  sort_rows(rows, TopOrder::kSent);
  CHECK(std::is_sorted(rows.begin(), rows.end(),
                       [](const TopRow& a, const TopRow& b) { return a.sent_gbps > b.sent_gbps; }));
  sort_rows(rows, TopOrder::kPid);
  CHECK(rows.front().pid == 1000);
  sort_rows(rows, TopOrder::kP99);
  CHECK(rows.front().pid == 1029);
  for (const std::size_t width : {40, 80, 120}) {
    const auto lines = top_lines(rows, width, 10);
    CHECK(lines.size() == 10);
    CHECK_THAT(lines.back(), Contains("23 more"));
    for (const std::string& line : lines)
      CHECK(line.size() <= width);
  }
  CHECK(top_lines(rows, 80, 0).size() == 32);
}

TEST_CASE("top shows NCCL's rank if the launcher sets none") {
  ProcessSnapshot one = process(10, "", 1);
  REQUIRE_FALSE(one.communicators.empty());
  one.communicators[0].rank = 3;
  CHECK(top_rows({one}, {one}, {})[0].rank == "3");
  one.communicators.clear();
  CHECK(top_rows({one}, {one}, {})[0].rank.empty());
}

TEST_CASE("a process whose page lacks rows is named") {
  ProcessSnapshot one = process(10, "", 1), other = process(11, "", 1);
  CHECK(missing_rows({one, other}).empty());
  other.missing = 3;
  const auto lines = missing_rows({one, other});
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("process 11: 3 of its lanes and communicators are not shown"));
}

TEST_CASE("top prints that nothing runs instead of an empty table") {
  const auto lines = top_lines({}, 60, 10);
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("no running process uses the plugin"));
  CHECK(lines[0].size() <= 60);
}

TEST_CASE("paths are listed from the worst to the best") {
  ProcessSnapshot one = process(10, "0", 1);
  for (const std::uint64_t lost : {0, 50'000, 100}) {
    engine::LivePath path;
    path.tuple = "10.0.0.1:50000 > 10.0.0.2:50001";
    path.lost_ppm = lost;
    one.paths.push_back(path);
  }
  const auto lines = path_lines({one}, 80, 0);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Contains("5.00%"));
  CHECK_THAT(lines[3], Contains("0%"));
  for (const std::string& line : lines)
    CHECK(line.size() <= 80);
}

TEST_CASE("the method of all-reduces is shown, with the blocks of direct exchange") {
  ProcessSnapshot one = process(7, "3", 1000);
  engine::LiveCommunicator& row = one.communicators[0];
  row.all_reduce = "direct exchange";
  row.blocks_whole = 12;
  row.blocks_partial = 3;
  row.counters[static_cast<std::size_t>(Counter::kNeedsSent)] = 2;
  one.communicators[1].all_reduce = "rings and trees: rank 1 of the group: DLCP_COLLNET=off";
  const std::string table = to_table({one});
  CHECK(has_line(table, "    all-reduces: direct exchange"));
  CHECK(has_line(table, "    blocks 12 whole, 3 partial; contributions repaired 2"));
  CHECK(has_line(table, "    all-reduces: rings and trees: rank 1 of the group: DLCP_COLLNET=off"));
}
