// Workloads in the form of htsim's connection matrices.
#include "simulate/load/connection_matrix.h"

#include "catch.h"

namespace dlcp::simulate {
namespace {

std::string refusal(const std::string& text) {
  const auto matrix = parse_connection_matrix(text, "x.cm");
  return matrix ? "" : matrix.error().message();
}

TEST_CASE("connections begin at a time, or when the connections before them have ended") {
  const auto matrix = parse_connection_matrix(
      "# a comment\nNodes 8\nConnections 3\nTriggers 2\n\n"
      "0->1 id 1 start 2500000 size 1000 send_done_trigger 1\r\n"
      "1->2 id 2 trigger 1 size 2000 prio 5 recv_done_trigger 7\n"
      "2->3 id 3 trigger 7 size 3000\n"
      "trigger id 1 oneshot\ntrigger id 7 barrier count 1\n",
      "x.cm");
  REQUIRE(matrix);
  const Workload& workload = matrix.value().workload;
  CHECK(matrix.value().hosts == 8);
  REQUIRE(workload.size() == 3);
  CHECK(workload[0].wait == 2500ns);
  CHECK(workload[0].after.empty());
  CHECK(workload[1].after == std::vector<TransferId>{0});
  CHECK(workload[2].after == std::vector<TransferId>{1});
  CHECK(workload[2].transfer.from == 2);
  CHECK(workload[2].transfer.to == 3);
  CHECK(workload[2].transfer.bytes == 3000);
}

TEST_CASE("a barrier is passed when all connections that name it have ended") {
  const std::string text =
      "Nodes 4\nConnections 3\nTriggers 1\n0->3 start 0 size 1 send_done_trigger 1\n"
      "1->3 start 0 size 1 send_done_trigger 1\n3->2 trigger 1 size 1\n";
  const auto matrix = parse_connection_matrix(text + "trigger id 1 barrier count 2\n", "x.cm");
  REQUIRE(matrix);
  CHECK(matrix.value().workload[2].after == std::vector<TransferId>{0, 1});
  CHECK(refusal(text + "trigger id 1 oneshot\n") ==
        "x.cm: trigger 1 is used as send_done_trigger or recv_done_trigger by 2 connections, but "
        "needs 1; make both numbers equal");
}

TEST_CASE("an invalid matrix is refused with its line") {
  const std::string head = "Nodes 4\nConnections 1\n";
  CHECK(refusal("") == "x.cm: there is no line 'Nodes N'; begin the file with it");
  CHECK_THAT(refusal(head + "0->4 start 0 size 1\n"),
             Contains("line 3: a host is '4'; give 0 to 3"));
  CHECK_THAT(refusal(head + "1->1 start 0 size 1\n"), Contains("sends to itself"));
  CHECK_THAT(refusal(head + "0->1 start 0\n"), Contains("no size"));
  CHECK_THAT(refusal(head + "0->1 size 5\n"), Contains("either start or trigger"));
  CHECK_THAT(refusal(head + "0->1 start 0 size 5 colour red\n"), Contains("'colour'"));
  CHECK_THAT(refusal(head + "0->1 start 0 size\n"), Contains("'size' has no value"));
  CHECK_THAT(refusal(head + "0->1 start -3 size 1\n"), Contains("start is '-3'"));
  CHECK_THAT(refusal(head), Contains("Connections says 1, but the file has 0"));
  CHECK_THAT(refusal("0->1 start 0 size 1\n"), Contains("before 'Nodes N'"));
  CHECK_THAT(refusal(head + "0->1 trigger 3 size 1\n"), Contains("trigger 3 is used"));
  CHECK_THAT(refusal(head + "failure switch_type AGG switch_id 0 link_id 0\n"),
             Contains("'faults' of the scenario"));
  CHECK_THAT(
      refusal("Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1\n1->2 id 1 start 0 size 1\n"),
      Contains("id 1 is used twice"));
}

TEST_CASE("connections that wait for each other in a cycle are refused") {
  CHECK_THAT(refusal("Nodes 4\nConnections 2\nTriggers 2\n"
                     "0->1 id 1 trigger 1 size 1 send_done_trigger 2\n"
                     "1->2 id 2 trigger 2 size 1 send_done_trigger 1\n"
                     "trigger id 1 oneshot\ntrigger id 2 oneshot\n"),
             Contains("in a cycle"));
}

}  // namespace
}  // namespace dlcp::simulate
