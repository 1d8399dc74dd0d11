// Which messages may lose data, measured from outside: packets are dropped, and received bytes are
// compared with sent ones. Everything except partial sums of a licensed ring must be exact.
#include <algorithm>
#include <cstdint>
#include <thread>

#include "catch.h"
#include "dlcp/communicator_class.h"
#include "nccl/plugin.h"
#include "ring_hop.h"
#include "sanitized.h"

namespace {

using namespace dlcp::test;
using dlcp::cli::AttributeBits;
using dlcp::cli::CollectiveCall;

constexpr std::size_t kBytes = 256 << 10;
constexpr int kStepsPerLoop = 2 * 3 * 2;  // all-reduce of 4 ranks, two messages per chunk

// Messages have the size that NCCL uses with buffers of 1 MiB.
Settings lossy_with_budget(const char* budget, const char* fault = "drop=0.03") {
  return {{"DLCP_LOSS_BUDGET", budget},
          {"DLCP_LOSS_SCOPE", "data-parallel"},
          {"NCCL_BUFFSIZE", "1048576"},
          {"DLCP_MTU", "1500"},
          {"DLCP_FAULT", fault}};
}

const Settings kLossy = lossy_with_budget("0.2");

Settings lossy_without_budget() {
  return {kLossy.begin() + 2, kLossy.end()};
}

// Bytes of contributions that are missing: a byte of stage k is the sum of k + 1 ranks.
std::size_t spent_of(const std::vector<std::size_t>& lost) {
  std::size_t spent = 0;
  for (std::size_t i = 0; i < lost.size(); ++i)
    spent += lost[i] * (i % kStepsPerLoop / 2 + 1);
  return spent;
}

// A ring all-reduce of four ranks with messages of full size: loops x 4 chunks of two messages.
HopRun all_reduce(int loops = kSanitized ? 1 : 2) {
  HopRun run;
  run.bytes = run.posted_bytes = kBytes;
  run.chunk_bytes = 4 * kBytes;
  run.steps = loops * kStepsPerLoop;
  run.call.count = static_cast<std::size_t>(loops) * 4 * 2 * kBytes / sizeof(float);
  return run;
}

HopRun reduce_scatter() {
  HopRun run;
  run.call.function = "ReduceScatter";
  run.bytes = run.posted_bytes = kBytes;
  run.chunk_bytes = 4 * kBytes;
  run.steps = 2 * 3 * 2;
  run.call.count = 2 * 2 * kBytes / sizeof(float);
  return run;
}

}  // namespace

TEST_CASE("a licensed all-reduce loses data of partial sums, and never of final values") {
  set_environment(kLossy);
  RingHop hop({});
  const auto lost = hop.run(all_reduce(4));
  std::size_t partial = 0;
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const std::size_t stage = i % kStepsPerLoop / 2;
    INFO("message " << i << ", stage " << stage);
    CHECK(lost[i] % sizeof(float) == 0);
    if (stage < 3)
      partial += lost[i];
    else
      CHECK(lost[i] == 0);
  }
  CHECK(partial > 0);
}

TEST_CASE("every stage of a licensed reduce-scatter may lose data") {
  set_environment(kLossy);
  RingHop hop({});
  const auto lost = hop.run(reduce_scatter());
  CHECK(total({lost.begin(), lost.begin() + 2}) > 0);
  CHECK(total({lost.begin() + 2, lost.begin() + 4}) > 0);
}

TEST_CASE("messages of each gradient data type may lose data") {
  set_environment(kLossy);
  RingHop hop({});
  for (const char* type : {"ncclFloat32", "ncclFloat16", "ncclBfloat16"}) {
    INFO(type);
    HopRun run = all_reduce();
    run.call.datatype = type;
    CHECK(total(hop.run(run)) > 0);
  }
}

TEST_CASE(
    "a message that is not a partial sum of floating-point numbers in a Simple ring is exact") {
  set_environment(kLossy);
  RingHop hop({});
  const std::pair<const char*, void (*)(HopRun&)> table[] = {
      {"LL", [](HopRun& r) { r.call.protocol = "LL"; }},
      {"LL128", [](HopRun& r) { r.call.protocol = "LL128"; }},
      {"tree", [](HopRun& r) { r.call.algorithm = "TREE"; }},
      {"PAT", [](HopRun& r) { r.call.algorithm = "PAT"; }},
      {"int32", [](HopRun& r) { r.call.datatype = "ncclInt32"; }},
      {"int64", [](HopRun& r) { r.call.datatype = "ncclInt64"; }},
      {"fp64", [](HopRun& r) { r.call.datatype = "ncclFloat64"; }},
      {"fp8", [](HopRun& r) { r.call.datatype = "ncclFloat8e4m3"; }},
      {"all-gather", [](HopRun& r) { r.call.function = "AllGather"; }},
      {"broadcast", [](HopRun& r) { r.call.function = "Broadcast"; }},
      {"reduce", [](HopRun& r) { r.call.function = "Reduce"; }},
      {"send and receive", [](HopRun& r) { r.call.function = "SendRecv"; }},
      {"short messages", [](HopRun& r) { r.bytes = (64 << 10) - 128; }},
      {"chunks of another size", [](HopRun& r) { r.chunk_bytes *= 2; }},
      {"receives of another size", [](HopRun& r) { r.posted_bytes *= 2, r.chunk_bytes *= 2; }},
      {"a length that no ring has", [](HopRun& r) { r.steps = kStepsPerLoop + 4; }},
  };
  for (const auto& [what, change] : table) {
    INFO(what);
    HopRun run = all_reduce();
    change(run);
    CHECK(total(hop.run(run)) == 0);
  }
  HopRun not_full = all_reduce();
  not_full.bytes = 128 << 10;
  CHECK(total(hop.run(not_full)) > 0);  // a loop's last messages are shorter than their receives
  CHECK(total(hop.run(all_reduce())) > 0);  // between them, the same connection loses data
}

TEST_CASE("operations that NCCL does not describe, or describes inconsistently, are exact") {
  set_environment(kLossy);
  RingHop hop({});
  HopRun run = all_reduce();
  SECTION("no setNetAttr") {
    run.tells_attributes = false;
  }
  SECTION("setNetAttr names another protocol") {
    run.call.protocol = "LL";
    run.attributes = bits_of(CollectiveCall{});
  }
  SECTION("setNetAttr names several algorithms") {
    run.attributes = AttributeBits{1u << 4, 3, 1u << 2};
  }
  SECTION("another process's proxy sends the messages") {
    run.proxy_of_other_process = true;
  }
  SECTION("the profiler has forgotten the collective") {
    run.collective[0] = run.collective[1] =
        reinterpret_cast<void*>(std::uintptr_t{0x4000000000000777});
  }
  CHECK(total(hop.run(run)) == 0);
}

TEST_CASE("without DLCP's profiler everything is exact, and the log gives the reason once") {
  set_environment(kLossy);
  take_log();
  RingHop hop({.profiler_version = 0});
  CHECK(total(hop.run(all_reduce())) == 0);
  CHECK(total(hop.run(all_reduce())) == 0);
  const auto log = take_log();
  CHECK(std::ranges::count_if(log, [](const std::string& line) {
          return line.find("profiler is not loaded") != std::string::npos;
        }) == 2);  // two contexts
}

TEST_CASE("with another profiler than DLCP's, only ReduceScatter of a stated type may lose data") {
  set_environment(lossy_without_budget());
  const int fp32 =
      dlcp::encode({.budget_ppm = 200'000, .type = dlcp::CommunicatorClass::Type::kFloat32});
  SECTION("with DLCP's tuner, which has the number of ranks") {
    RingHop hop({.profiler_version = 0, .communicator_class = fp32});
    CHECK(total(hop.run(reduce_scatter())) == 0);  // NCCL has not loaded it yet
    hop.take_tuner(77, 4);
    HopRun run = reduce_scatter();
    const auto lost = hop.run(run);
    CHECK(total(lost) > 0);
    for (const std::size_t bytes : lost) {
      CHECK(bytes * 3 <=
            run.bytes * 4 * 2 / 10 / 4);  // P x bytes x ranks / hops, for the three other ranks
      CHECK(bytes % sizeof(float) == 0);
    }
    run.bytes = 128 << 10;  // messages half as long as their receives
    for (const std::size_t bytes : hop.run(run))
      CHECK(bytes * 3 <= run.bytes * 2 / 10);
    CHECK(total(hop.run(all_reduce())) == 0);
    run = reduce_scatter();
    run.call.protocol = "LL";
    CHECK(total(hop.run(run)) == 0);
    run = reduce_scatter();
    run.call.algorithm = "PAT";
    CHECK(total(hop.run(run)) == 0);
    run = reduce_scatter();
    run.tells_attributes = false;
    run.call.function = "AllGather";
    hop.run(all_reduce());  // the last operation that NCCL described
    CHECK(total(hop.run(run)) == 0);
  }
  SECTION("only if no other communicator shares the connections") {
    RingHop hop({.profiler_version = 0, .communicator_class = fp32});
    hop.take_tuner(77, 4);
    hop.take_tuner(78, 2);  // a child created by ncclCommSplit
    CHECK(total(hop.run(reduce_scatter())) == 0);
    hop.drop_tuners();
    CHECK(total(hop.run(reduce_scatter())) > 0);
  }
  SECTION("nor may share them, as one whose context is not used (NCCL 2.28.3)") {
    RingHop hop({.profiler_version = 0, .communicator_class = fp32});
    hop.take_tuner(77, 4);
    auto other = dlcp::cli::LoadedPlugin::open(DLCP_PLUGIN_PATH, 12);
    REQUIRE(other.ok());
    auto& net = other.value().net();
    REQUIRE(net.init(78, logger) == dlcp::nccl::ResultCode::kSuccess);
    hop.take_tuner(78, 2);
    CHECK(total(hop.run(reduce_scatter())) == 0);
    Handle handle;
    void* listener = nullptr;
    REQUIRE(net.listen(0, handle.data(), &listener) == dlcp::nccl::ResultCode::kSuccess);
    CHECK(total(hop.run(reduce_scatter())) > 0);
    net.close_listen(listener);
    net.finalize();
  }
  SECTION("also if it connects after NCCL has loaded the tuner, as by default") {
    RingHop hop({.profiler_version = 0, .communicator_class = fp32, .tuner_is_first = true});
    CHECK(total(hop.run(reduce_scatter())) > 0);
  }
  SECTION("not without the data type") {
    RingHop hop(
        {.profiler_version = 0, .communicator_class = dlcp::encode({.budget_ppm = 200'000})});
    hop.take_tuner(77, 4);
    CHECK(total(hop.run(reduce_scatter())) == 0);
  }
}

TEST_CASE("without a budget there are no events and no losses") {
  set_environment(lossy_without_budget());
  RingHop hop({});
  CHECK_FALSE(hop.events_wanted());
  CHECK(total(hop.run(all_reduce())) == 0);
}

TEST_CASE("a traffic class licenses one communicator, and its own number takes precedence") {
  const int lossy = dlcp::encode({.budget_ppm = 200'000});
  const int exact = dlcp::encode({});
  const int other_type =
      dlcp::encode({.budget_ppm = 200'000, .type = dlcp::CommunicatorClass::Type::kBfloat16});
  struct Row {
    const char* what;
    bool process_has_budget;
    HopOptions options;
    bool may_lose;
  };
  const Row table[] = {
      {"without a budget for the process", false, {.communicator_class = lossy}, true},
      {"exact, despite the process's budget", true, {.communicator_class = exact}, false},
      {"and does not apply to a child that shares its connections",
       false,
       {.profiled_comm_id = 78, .communicator_class = lossy},
       false},
      {"while the process's budget applies to all", true, {.profiled_comm_id = 78}, true},
      {"with a licence at the sender only",
       false,
       {.communicator_class = lossy, .receiver_communicator_class = other_type},
       false},
      {"with a licence at the receiver only",
       false,
       {.communicator_class = other_type, .receiver_communicator_class = lossy},
       false},
      {"with another data type", false, {.communicator_class = other_type}, false},
  };
  for (const Row& row : table) {
    INFO(row.what);
    set_environment(row.process_has_budget ? kLossy : lossy_without_budget());
    RingHop hop(row.options);
    CHECK((total(hop.run(all_reduce())) > 0) == row.may_lose);
  }
}

TEST_CASE("interface v11 with profiler v5, and v10 with profiler v4") {
  set_environment(kLossy);
  SECTION("NCCL 2.28") {
    RingHop hop({.net_version = 11, .profiler_version = 5});
    CHECK(total(hop.run(all_reduce())) > 0);
  }
  SECTION("NCCL 2.27") {
    RingHop hop({.net_version = 10, .profiler_version = 4});
    CHECK(total(hop.run(all_reduce())) > 0);
  }
  SECTION("NCCL 2.27 passes the traffic class to connect, but not to accept") {
    set_environment(lossy_without_budget());
    RingHop hop({.net_version = 10,
                 .profiler_version = 4,
                 .communicator_class = dlcp::encode({.budget_ppm = 200'000})});
    CHECK(total(hop.run(all_reduce())) == 0);
    hop.run_back(all_reduce());  // now the receiver's rank has sent in this communicator
    CHECK(total(hop.run(all_reduce())) > 0);
  }
  SECTION("NCCL 2.27 without DLCP's profiler") {
    set_environment(lossy_without_budget());
    RingHop hop({.net_version = 10,
                 .profiler_version = 0,
                 .communicator_class = dlcp::encode(
                     {.budget_ppm = 200'000, .type = dlcp::CommunicatorClass::Type::kFloat32})});
    hop.take_tuner(77, 4);
    CHECK(total(hop.run(reduce_scatter())) == 0);
  }
  SECTION("NCCL 2.25 lacks the information, and the log says so") {
    take_log();
    std::size_t lost = 0;
    std::thread([&] {  // whose context has logged nothing yet
      RingHop hop({.net_version = 9, .profiler_version = 0});
      lost = total(hop.run(all_reduce()));
    })
        .join();
    CHECK(lost == 0);
    const auto log = take_log();
    const auto lines_with = [&](const char* words) {
      return std::ranges::count_if(
          log, [&](const std::string& line) { return line.find(words) != std::string::npos; });
    };
    CHECK(lines_with("this NCCL does not report") == 1);
    CHECK(lines_with("may lose") == 0);
  }
}

TEST_CASE("NCCL 2.27: a traffic class does not apply to a child that shares the connections") {
  set_environment(lossy_without_budget());
  HopOptions options{.net_version = 10,
                     .profiler_version = 4,
                     .communicator_class = dlcp::encode({.budget_ppm = 200'000})};
  HopRun of_child = all_reduce();
  of_child.of_child = true;
  SECTION("if the parent has sent first") {
    RingHop hop(options);
    hop.run(all_reduce());
    hop.run_back(all_reduce());
    CHECK(total(hop.run(all_reduce())) > 0);
    CHECK(total(hop.run(of_child)) == 0);
    hop.run_back(of_child);
    CHECK(total(hop.run(of_child)) == 0);
    CHECK(total(hop.run(all_reduce())) > 0);
  }
  SECTION("if the child, which began after the connection was made, sends first") {
    RingHop hop(options);
    hop.run_back(of_child);
    CHECK(total(hop.run(of_child)) == 0);
    hop.run_back(all_reduce());
    CHECK(total(hop.run(all_reduce())) > 0);
    CHECK(total(hop.run(of_child)) == 0);
  }
  SECTION("if the child began earlier, and the parent sends a short message first") {
    options.child_is_first = true;
    RingHop hop(options);
    HopRun brief = all_reduce();
    brief.bytes = 1024;
    hop.run(brief);
    hop.run_back(brief);
    hop.run_back(of_child);
    CHECK(total(hop.run(of_child)) == 0);
    CHECK(total(hop.run(all_reduce())) > 0);
  }
}

TEST_CASE("a replayed graph gets a budget for each run, and stays within it") {
  set_environment(lossy_with_budget("0.004"));
  RingHop hop({});
  HopRun run = all_reduce();
  hop.capture(run);
  const std::size_t result_bytes = run.call.count * sizeof(float);
  std::size_t spent_in_all = 0;
  for (int replay = 0; replay < 5; ++replay) {
    const std::size_t spent = spent_of(hop.run(run));
    CHECK(spent <= result_bytes * 4 / 1000);  // P x R x N / H
    spent_in_all += spent;
  }
  CHECK(spent_in_all > result_bytes * 4 / 1000);
}

TEST_CASE("if a third of all packets is lost, no more than the budget is missing") {
  set_environment(lossy_with_budget("0.01", "drop=0.3"));
  RingHop hop({});
  const HopRun run = all_reduce();
  CHECK(spent_of(hop.run(run)) <= run.call.count * sizeof(float) / 100);
}
