// All-reduces through a simulated switch, beside others by direct exchange: the ranks are in one
// process, and the test passes the calls' lengths.
#include "host_names.h"
#include "switch_ranks.h"

namespace {

using namespace dlcp::test;
using namespace std::chrono_literals;
namespace collnet = dlcp::nccl::collnet;
using dlcp::collective::DataType;
using dlcp::collective::ReduceOp;
using dlcp::nccl::ResultCode;

constexpr double kBound = 16.0 * 64 / std::numeric_limits<std::int32_t>::max() * 16;

std::string port_of(const Server& server) {
  return server.name().substr(server.name().find(':') + 1);
}

// Sockets that never answer, at the ports of ranks 0 and 1 of the first of kTwoAddresses.
std::vector<dlcp::Fd> silent_address(const Server& server) {
  std::vector<dlcp::Fd> sockets;
  for (int rank = 0; rank < 2; ++rank) {
    sockets.emplace_back(::socket(AF_INET, SOCK_DGRAM, 0));
    sockaddr_in first{};
    first.sin_family = AF_INET;
    first.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port_of(server)) + rank));
    first.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    REQUIRE(::bind(sockets.back().get(), reinterpret_cast<const sockaddr*>(&first), sizeof first) ==
            0);
  }
  return sockets;
}

}  // namespace

TEST_CASE("float32 sums use the switch, others use direct exchange, in any order of calls") {
  for (const double drop : {0.0, 0.01}) {
    Server server(4, drop);
    Ranks ranks(std::vector<std::string>(4, server.name()));
    REQUIRE(ranks.connected());
    for (const std::size_t count : {1u, 300u, 40'000u}) {
      INFO("drop " << drop << ", count " << count);
      Floats first(4, count, DataType::kFloat32), second = first, product = first;
      Integers whole(4, count, DataType::kInt32), more = whole;
      Calls calls(ranks);
      for (std::size_t rank = 0; rank < 4; ++rank) {
        REQUIRE(calls.start(rank, whole.call(rank)));
        REQUIRE(calls.start(rank, first.call(rank)));
        REQUIRE(calls.start(rank, product.call(rank, true, ReduceOp::kMax)));
        REQUIRE(calls.start(rank, second.call(rank)));
        REQUIRE(calls.start(rank, more.call(rank)));
      }
      const bool finished = calls.finish();
      INFO(calls.error);
      REQUIRE(finished);
      CHECK(first.worst() <= kBound);
      CHECK(second.worst() <= kBound);
      CHECK(whole.worst() == 0);
      CHECK(more.worst() == 0);
      for (std::size_t i = 0; i < count; ++i) {
        float most = product.inputs[0][i];
        for (const auto& input : product.inputs)
          most = std::max(most, input[i]);
        REQUIRE(product.results[3][i] == most);
      }
    }
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(ranks.comm(rank).by_switch->counts().by_switch == 6);
      CHECK(ranks.comm(rank).by_switch->counts().otherwise == 9);
    }
    CHECK(server.sums() > 300);
  }
}

TEST_CASE("ranks that end after sums in the switch abort no connection, in any order") {
  Server server(3);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(3, 1000, DataType::kFloat32);
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 3; ++rank)
    REQUIRE(calls.start(rank, floats.call(rank)));
  REQUIRE(calls.finish());
  take_log();
  std::atomic<int> aborted{0}, late{0};
  const dlcp::Duration apart = GENERATE(0ms, 200ms, 6s);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      std::this_thread::sleep_for(rank * apart / 2);
      const auto begun = std::chrono::steady_clock::now();
      aborted += ranks.comm(rank).by_switch->close() ? 1 : 0;
      aborted += ranks.comm(rank).group->close() ? 1 : 0;
      late += std::chrono::steady_clock::now() - begun > 2s ? 1 : 0;
    });
  }
  for (auto& thread : threads)
    thread.join();
  CHECK(aborted == 0);
  CHECK(late == 0);
  CHECK_THAT(take_log(), !Contains("the peer"));
}

TEST_CASE("bytes behind a tensor's end are not summed, and a call without data completes") {
  Server server(2);
  Ranks ranks(std::vector<std::string>(2, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(2, 1000, DataType::kFloat32);
  floats.inputs[1][500] = std::numeric_limits<float>::quiet_NaN();
  floats.results[0][500] = floats.results[1][500] = 77;
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    auto call = floats.call(rank);
    call.real_bytes = 500 * sizeof(float);
    REQUIRE(calls.start(rank, call));
    call.real_bytes = 0;
    REQUIRE(calls.start(rank, call));
  }
  REQUIRE(calls.finish());
  CHECK(floats.results[0][500] == 77);
  CHECK(std::abs(floats.results[1][499] - floats.sum(499)) <= kBound);
  CHECK(ranks.comm(0).by_switch->counts().refused == 0);
}

TEST_CASE("if one rank's values cannot be encoded, the call uses direct exchange on all ranks") {
  Server server(3, 0.02);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats wild(3, 20'000, DataType::kFloat32), tame = wild;
  wild.inputs[1][19'999] = std::numeric_limits<float>::infinity();
  for (int round = 0; round < 3; ++round) {
    Calls calls(ranks);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      REQUIRE(calls.start(rank, wild.call(rank)));
      REQUIRE(calls.start(rank, tame.call(rank)));
    }
    REQUIRE(calls.finish());
    for (std::size_t rank = 0; rank < 3; ++rank) {
      REQUIRE(std::isinf(wild.results[rank][19'999]));
      for (std::size_t i = 0; i < 19'999; ++i)
        REQUIRE(wild.results[rank][i] == wild.sum(i));
    }
    CHECK(tame.worst() <= kBound);
  }
  CHECK(ranks.comm(2).by_switch->counts().refused == 3);
  CHECK(ranks.comm(2).by_switch->counts().by_switch == 3);
}

TEST_CASE("if one rank has no lengths, no sum uses the switch, and the log says so") {
  Server server(3);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(3, 5000, DataType::kFloat32), again = floats;
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(calls.start(rank, floats.call(rank, rank != 1)));
    REQUIRE(calls.start(rank, again.call(rank)));
  }
  REQUIRE(calls.finish());
  CHECK(floats.worst() == 0);
  CHECK(again.worst() == 0);
  CHECK(server.sums() == 1);
  CHECK_THAT(ranks.comm(2).by_switch->take_change(),
             Contains("does not report tensor lengths to all ranks"));
  CHECK(ranks.comm(2).by_switch->take_change().empty());
}

TEST_CASE(
    "a rank that loses its lengths during the vote ends the group, and the error has a remedy") {
  Server server(3);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(3, 1000, DataType::kFloat32), again = floats;
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(calls.start(rank, floats.call(rank)));
    REQUIRE(calls.start(rank, again.call(rank, rank != 1)));
  }
  CHECK_FALSE(calls.finish());
  CHECK_THAT(calls.error, Contains("tensor lengths are no longer known"));
  const auto fault = ranks.comm(1).group->take_unlogged_failure();
  REQUIRE(fault);
  CHECK_THAT(fault->hint, Contains("DLCP_COLLNET_SWITCH") && Contains("splitShare"));
}

TEST_CASE("a rank that fails while the others sum in the switch ends their calls") {
  Server server(3);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(3, 1000, DataType::kFloat32), again = floats;
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 3; ++rank)
    REQUIRE(calls.start(rank, floats.call(rank)));
  REQUIRE(calls.finish());
  Calls others(ranks);
  CHECK_FALSE(others.start(0, again.call(0, false)));
  bool all = true;
  for (std::size_t rank = 1; rank < 3; ++rank)
    all = others.start(rank, again.call(rank)) && all;
  CHECK_FALSE((all && others.finish()));
  CHECK_THAT(others.error, Contains("tensor lengths are no longer known"));
}

TEST_CASE("a switch is reached if only one of its host name's addresses answers") {
  Server server(2);  // at 127.0.0.1, the second address of this name
  std::vector<dlcp::Fd> silent;
  if (GENERATE(false, true)) silent = silent_address(server);  // else it rejects packets
  Ranks ranks(std::vector<std::string>(2, kTwoAddresses + (":" + port_of(server))));
  REQUIRE(ranks.connected());
  Floats floats(2, 1000, DataType::kFloat32);
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 2; ++rank)
    REQUIRE(calls.start(rank, floats.call(rank)));
  REQUIRE(calls.finish());
  CHECK(floats.worst() <= kBound);
  CHECK(ranks.comm(0).by_switch->counts().by_switch == 1);
}

TEST_CASE("a rank that has left the right address accepts the answer that arrives there later") {
  Server server(2);
  const auto silent = silent_address(server);
  const auto name = dlcp::collective::switch_name(kTwoAddresses + (":" + port_of(server)));
  std::vector<std::unique_ptr<dlcp::nccl::SwitchLine>> lines;
  for (unsigned rank = 0; rank < 2; ++rank) {
    lines.push_back(dlcp::nccl::SwitchLine::open(name.value(), rank).value());
    dlcp::collective::SwitchHello::Terms terms;
    terms.rank = rank;
    lines.back()->join(terms, 2s);
  }
  const dlcp::Time begin{1h};
  for (const auto time : {0s, 1s, 2s})  // the silent address, the right one, the silent one
    REQUIRE_FALSE(lines[0]->greet(begin + time).value());
  for (const auto time : {0s, 1s})
    REQUIRE_FALSE(lines[1]->greet(begin + time).value());
  bool greeted[2] = {};
  for (int i = 0; i < 500 && !(greeted[0] && greeted[1]); ++i) {
    std::this_thread::sleep_for(1ms);
    greeted[0] = lines[0]->greet(begin + 2s + i * 1ms).value();
    greeted[1] = lines[1]->greet(begin + 1s + i * 1ms).value();
  }
  CHECK(greeted[1]);
  CHECK(greeted[0]);
}

TEST_CASE("an unusable switch is refused on all ranks with the reason") {
  const auto refused = [](const std::vector<std::string>& switches) {
    take_log();
    const auto began = std::chrono::steady_clock::now();
    Ranks ranks(switches);
    CHECK(std::chrono::steady_clock::now() - began < 15s);
    for (const auto& member : ranks.members) {
      CHECK(member.connected != ResultCode::kSuccess);
      CHECK(member.group == nullptr);
    }
    return take_log();
  };
  CHECK_THAT(refused({"127.0.0.1:9", "127.0.0.1:9"}),
             Contains("rank 0 reports: 127.0.0.1:9: its host reports"));
  CHECK_THAT(refused({"no.such.host.invalid", "no.such.host.invalid"}),
             Contains("cannot find host 'no.such.host.invalid'"));
  CHECK_THAT(refused({"localhost:x", "localhost:x"}), Contains("'x' is not a port"));
  {
    Server two(2);
    CHECK_THAT(refused(std::vector<std::string>(3, two.name())),
               Contains("it adds 2 workers, but the group has 3") || Contains("port is closed"));
  }
  {
    Server four(4);
    CHECK_THAT(refused(std::vector<std::string>(3, four.name())),
               Contains(": no answer") && Contains("--workers 3, --values 256 and at least"));
  }
  Server server(2);
  CHECK_THAT(refused({server.name(), ""}),
             Contains("rank 1 of the group: this rank has a DLCP_COLLNET_SWITCH, but the peer's "
                      "rank has none"));
}

TEST_CASE("a rank whose name server is slow does not delay the others beyond the time limit") {
  Server server(2);
  take_log();
  Ranks ranks(std::vector<std::string>(2, kSlowName + (":" + port_of(server))));
  for (const auto& member : ranks.members)
    CHECK(member.connected != ResultCode::kSuccess);
  CHECK_THAT(take_log(), Contains("rank 0 has not received the reports of all ranks within 2 s"));
}

TEST_CASE("a second communicator is refused while the first runs, and accepted later") {
  Server server(2);
  const std::vector<std::string> names(2, server.name());
  {
    Ranks first(names, 1);
    REQUIRE(first.connected());
    take_log();
    Ranks second(names, 2);
    CHECK_FALSE(second.connected());
    CHECK_THAT(take_log(), Contains("another communicator of this process uses the switch"));
    Floats floats(2, 1000, DataType::kFloat32);
    Calls calls(first);
    for (std::size_t rank = 0; rank < 2; ++rank)
      REQUIRE(calls.start(rank, floats.call(rank)));
    REQUIRE(calls.finish());
    CHECK(floats.worst() <= kBound);
  }
  Ranks third(names, 3);
  CHECK(third.connected());
}

TEST_CASE("a switch is claimed by a communicator, whatever rank this process has in it") {
  auto& claims = dlcp::nccl::SwitchClaims::of_process();
  REQUIRE(claims.take({"switch", 5, 0}));
  CHECK_FALSE(claims.take({"switch", 6, 1}));
  CHECK_FALSE(claims.take({"switch", 5, 0}));
  CHECK_FALSE(claims.take({"switch", 0, 1}));
  CHECK(claims.take({"switch", 5, 1}));
  CHECK(claims.take({"other", 6, 1}));
  claims.give_back({"switch", 5, 0});
  CHECK_FALSE(claims.take({"switch", 6, 1}));
  claims.give_back({"switch", 5, 1});
  CHECK(claims.take({"switch", 6, 1}));
  claims.give_back({"switch", 6, 1});
  claims.give_back({"other", 6, 1});
}

TEST_CASE("a switch that stops during a call fails it on all ranks") {
  Server server(2);
  Ranks ranks(std::vector<std::string>(2, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(2, 1000, DataType::kFloat32);
  {
    Calls calls(ranks);
    for (std::size_t rank = 0; rank < 2; ++rank)
      REQUIRE(calls.start(rank, floats.call(rank)));
    REQUIRE(calls.finish());
  }
  server.stop();
  Calls calls(ranks);
  for (std::size_t rank = 0; rank < 2; ++rank)
    REQUIRE(calls.start(rank, floats.call(rank)));
  CHECK_FALSE(calls.finish());
  CHECK_THAT(calls.error, Contains("the switch") && Contains("is not reachable"));
  // The rank that noticed first has a fault; the other rank may have received the reason from it.
  const bool first = ranks.comm(0).group->take_unlogged_failure().has_value();
  CHECK((ranks.comm(1).group->take_unlogged_failure().has_value() || first));
}

TEST_CASE("a rank that leaves while another sums in the switch ends that call with an error") {
  Server server(3);
  Ranks ranks(std::vector<std::string>(3, server.name()));
  REQUIRE(ranks.connected());
  Floats floats(3, 1000, DataType::kFloat32);
  {
    Calls calls(ranks);
    for (std::size_t rank = 0; rank < 3; ++rank)
      REQUIRE(calls.start(rank, floats.call(rank)));
    REQUIRE(calls.finish());
  }
  // Aborted: with a call in progress that the others have not started.
  Calls calls(ranks);
  REQUIRE(calls.start(2, floats.call(2)));
  collnet::close_group(std::exchange(ranks.members[2].group, nullptr));
  collnet::finalize_communicator(ranks.members[2].context);
  ranks.members.pop_back();
  Calls others(ranks);
  bool all = true;
  for (std::size_t rank = 0; rank < 2; ++rank)
    all = others.start(rank, floats.call(rank)) && all;
  CHECK_FALSE((all && others.finish()));
  CHECK_THAT(others.error, Contains("the communicator was aborted during an all-reduce"));
}
