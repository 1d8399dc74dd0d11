// The first packets of a job's workers, through the simulated switch and with changes on the way.
#include "collective/switchml/switch_hello.h"

#include <vector>

#include "catch.h"
#include "collective/switchml/aggregator/switch_aggregator.h"
#include "collective/switchml/switch_name.h"

using namespace dlcp;
using namespace dlcp::collective;

namespace {

using Answer = SwitchHello::Answer;
using To = SwitchAggregator::To;

SwitchHello hello_of(unsigned rank, unsigned workers = 3, std::uint32_t word = 0xfedcba98) {
  return SwitchHello({workers, rank, 7, 256, 9, 1234, word});
}

}  // namespace

TEST_CASE(
    "a worker that received all hellos knows that all workers are present, and may ask again") {
  SwitchAggregator aggregator({3, 8, 256});
  SwitchHello hellos[] = {hello_of(0), hello_of(1), hello_of(2)};
  CHECK(aggregator.on_packet(1, hellos[1].packet()) == To::kNobody);
  CHECK(aggregator.on_packet(0, hellos[0].packet()) == To::kNobody);
  CHECK(aggregator.on_packet(2, hellos[2].packet()) == To::kEveryone);
  for (auto& hello : hellos)
    CHECK(hello.read(aggregator.answer()) == Answer::kRight);
  CHECK(aggregator.on_packet(1, hellos[1].packet()) == To::kSender);
  CHECK(hellos[1].read(aggregator.answer()) == Answer::kRight);
  CHECK(hellos[1].read(hellos[1].packet()) == Answer::kWrong);  // an echo is not a switch
}

TEST_CASE("other numbers of workers, duplicate ranks and other jobs are distinguished") {
  const auto fault = [](std::vector<SwitchHello> hellos) {
    SwitchAggregator aggregator({static_cast<unsigned>(hellos.size()), 8, 256});
    for (unsigned i = 0; i < hellos.size(); ++i)
      aggregator.on_packet(i, hellos[i].packet());
    return hellos[0].read(aggregator.answer()) == Answer::kWrong ? hellos[0].fault() : "";
  };
  CHECK(fault({hello_of(0), hello_of(1)}) == "it adds 2 workers, but the group has 3");
  CHECK(fault({hello_of(0), hello_of(1), hello_of(1)}) ==
        "it has added the data of rank 1 2 times");
  CHECK(fault({hello_of(0), hello_of(1), hello_of(2, 3, 5)}) ==
        "it has added the data of workers of another job");
  CHECK(fault({hello_of(0), hello_of(1), hello_of(2)}).empty());
}

TEST_CASE("packets that are not an answer are ignored") {
  SwitchHello hello = hello_of(0, 1);
  std::vector<std::byte> answer(hello.packet().begin(), hello.packet().end());
  CHECK(hello.read(answer) == Answer::kRight);
  for (const std::size_t at : {1u, 5u, 6u, 7u, 8u}) {  // job, serial, set, slot, exponent
    auto other = answer;
    other[at] ^= std::byte{0x80};
    CHECK(hello.read(other) == Answer::kNone);
  }
  CHECK(hello.read({}) == Answer::kNone);
}

TEST_CASE("a switch is named by host, port and slots, of which only the host is required") {
  const auto read = [](const char* text) { return switch_name(text).value(); };
  CHECK(read("sw1").host == "sw1");
  CHECK(read("sw1").port == 48864);
  CHECK(read("sw1").slots == 128);
  CHECK(read("10.0.0.9:5000/64").port == 5000);
  CHECK(read("10.0.0.9:5000/64").slots == 64);
  CHECK(read("[fd00::1]:7/2").host == "fd00::1");
  CHECK(read("fd00::1").host == "fd00::1");
  for (const char* wrong : {"", ":5000", "a:0", "a:65536", "a/1", "a/8193", "a/", "a:1/x", "/5"})
    CHECK_FALSE(switch_name(wrong).ok());
}
