// The recorder behind DLCP_PROFILE_FILE: events in, records out.
#include "nccl/profile/recorder.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include "catch.h"
#include "nccl/profile/buffer_sampler.h"
#include "nccl/profile/profile.h"
#include "nccl/profiler/event_handle.h"

using namespace dlcp;
using namespace dlcp::nccl;

namespace {

Time at(std::int64_t us) {
  return time_from_ns(us * 1000);
}

const whatif::Kind kAllReduce{"AllReduce", "float32", "RING", "SIMPLE", 2};

whatif::Run run_of(Recorder& recorder) {
  whatif::Run run;
  recorder.copy_to(run);
  return run;
}

}  // namespace

TEST_CASE("a collective lasts from its first kernel to its last, whatever the proxy does before") {
  Recorder recorder;
  const auto comm = recorder.add_communicator({7, 1, 4});
  const auto call = recorder.start_collective(at(10), comm, kAllReduce, 4096, 0);
  const auto receive = recorder.start_operation(at(12), call, 0, false, 0);
  const auto send = recorder.start_operation(at(12), call, 0, true, 0);
  const auto first = recorder.start_kernel(at(20), call, 0);
  const auto second = recorder.start_kernel(at(21), call, 1);
  recorder.stop(at(30), receive);
  recorder.stop(at(31), second);
  CHECK(run_of(recorder).records.empty());
  recorder.stop(at(33), first);
  recorder.stop(at(40), send);
  const auto run = run_of(recorder);
  REQUIRE(run.records.size() == 1);
  CHECK(run.records[0].enqueued_ns == 10000);
  CHECK(run.records[0].start_ns == 20000);
  CHECK(run.records[0].end_ns == 33000);
  CHECK(run.records[0].sequence == 1);
  CHECK(run.starts == "kernel");
  CHECK(run.communicators[0].id == 7);
}

TEST_CASE("without kernel events a collective lasts as long as the proxy's operations") {
  Recorder recorder;
  const auto call =
      recorder.start_collective(at(1), recorder.add_communicator({}), kAllReduce, 64, 0);
  const auto send = recorder.start_operation(at(2), call, 0, true, 0);
  recorder.stop(at(9), send);
  const auto run = run_of(recorder);
  REQUIRE(run.records.size() == 1);
  CHECK(run.records[0].start_ns == 2000);
  CHECK(run.records[0].end_ns == 9000);
  CHECK(run.starts == "proxy");
}

TEST_CASE("collectives through CollNet end with their kernels: NCCL never ends their operations") {
  Recorder recorder;
  const auto call =
      recorder.start_collective(at(0), recorder.add_communicator({}), kAllReduce, 64, 0);
  for (std::int64_t replay = 1; replay <= 2; replay++) {
    CHECK(recorder.start_operation(at(10 * replay), call, 0, false, 0) != 0);
    CHECK(recorder.start_operation(at(10 * replay), call, 0, false, 0) != 0);
    recorder.stop(at(10 * replay + 6), recorder.start_kernel(at(10 * replay + 2), call, 0));
  }
  const auto run = run_of(recorder);
  REQUIRE(run.records.size() == 2);
  CHECK(run.records[1].start_ns == 22000);
  CHECK(run.records[1].end_ns == 26000);
  CHECK(run.records[1].sequence == 2);
}

TEST_CASE("a receive that is outstanding counts once, and only within the collective") {
  Recorder recorder;
  const auto call =
      recorder.start_collective(at(0), recorder.add_communicator({}), kAllReduce, 64, 0);
  const auto receive = recorder.start_operation(at(0), call, 0, false, 0);
  const auto other = recorder.start_operation(at(0), call, 1, false, 0);
  CHECK(recorder.start_step(other, 0) == 0);  // one channel is enough
  const auto step0 = recorder.start_step(receive, 0);
  const auto step1 = recorder.start_step(receive, 1);
  recorder.receive_posted(at(1), step0);
  recorder.receive_posted(at(2), step1);
  const auto kernel = recorder.start_kernel(at(10), call, 0);
  recorder.receive_arrived(at(14), step0);
  recorder.receive_arrived(at(15), step0);  // flush, then wait for the GPU
  recorder.receive_arrived(at(18), step1);
  recorder.stop(at(20), receive);
  recorder.stop(at(20), other);
  recorder.stop(at(22), kernel);
  CHECK(run_of(recorder).records.at(0).blocked_ns == 8000);
}

TEST_CASE("each replay of a captured graph is a record of its own") {
  Recorder recorder;
  const auto call =
      recorder.start_collective(at(0), recorder.add_communicator({}), kAllReduce, 64, 0);
  for (std::int64_t replay = 1; replay <= 3; replay++) {
    const auto kernel = recorder.start_kernel(at(100 * replay), call, 0);
    recorder.stop(at(100 * replay + 5), kernel);
  }
  const auto run = run_of(recorder);
  REQUIRE(run.records.size() == 3);
  CHECK(run.records[2].start_ns == 300000);
  CHECK(run.records[2].end_ns == 305000);
  CHECK(run.records[2].sequence == 3);
}

TEST_CASE("collectives have the same numbers on all ranks, however many sends a rank has") {
  Recorder recorder;
  const auto comm = recorder.add_communicator({});
  const whatif::Kind send{"Send", "float32", "", "", 1};
  for (const auto& kind : {send, kAllReduce, send, send, kAllReduce}) {
    const auto call = recorder.start_collective(at(1), comm, kind, 64, 0);
    recorder.stop(at(2), recorder.start_kernel(at(1), call, 0));
  }
  std::vector<std::uint64_t> numbers;
  for (const whatif::Record& record : run_of(recorder).records)
    numbers.push_back(record.sequence);
  CHECK(numbers == std::vector<std::uint64_t>{1, 1, 2, 3, 2});
}

TEST_CASE("only the newest records are kept, and the number of all is known") {
  Recorder recorder;
  const auto comm = recorder.add_communicator({});
  constexpr auto kAll = static_cast<std::int64_t>(Recorder::kRecordsMax) + 100;
  for (std::int64_t i = 1; i <= kAll; i++) {
    const auto call = recorder.start_collective(at(i), comm, kAllReduce, 64, 0);
    recorder.stop(at(i), recorder.start_kernel(at(i), call, 0));
  }
  const auto run = run_of(recorder);
  CHECK(run.collectives == static_cast<std::uint64_t>(kAll));
  REQUIRE(run.records.size() == Recorder::kRecordsMax);
  CHECK(run.records.front().sequence == 101);
  CHECK(run.records.back().sequence == static_cast<std::uint64_t>(kAll));
}

TEST_CASE("handles of others, and of what was overwritten, change nothing") {
  Recorder recorder;
  CHECK(recorder.start_kernel(at(1), 0, 0) == 0);
  CHECK(recorder.start_operation(at(1), 0x1234567890, 0, true, 0) == 0);
  for (const std::uint64_t handle : {std::uint64_t{1}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    recorder.stop(at(1), handle);
    recorder.receive_posted(at(1), handle);
    recorder.receive_arrived(at(1), handle);
    CHECK(recorder.inner_of(handle) == 0);
  }
  CHECK(run_of(recorder).records.empty());
}

TEST_CASE("handles of the table of events are kept, and their steps reported") {
  Recorder recorder;
  const auto call =
      recorder.start_collective(at(0), recorder.add_communicator({}), kAllReduce, 64, 77);
  const auto send = recorder.start_operation(at(0), call, 0, true, 88);
  CHECK(recorder.inner_of(call) == 77);
  const auto step = recorder.start_step(send, 5);
  CHECK(recorder.inner_of(step) == 88);
  CHECK(dlcp::nccl::step_of_handle(step) == 5);
}

TEST_CASE("host buffers are sampled, and unreadable memory gives a reason instead of a crash") {
  BufferSampler sampler;
  whatif::Run run;
  sampler.look(at(0), "float32", reinterpret_cast<const void*>(std::uintptr_t{4096}), 1 << 20);
  sampler.copy_to(run);
  CHECK(run.samples.empty());
  CHECK_THAT(run.buffers, Contains("GPU memory"));
  const std::vector<float> zeros(1 << 16);
  sampler.look(at(200'000), "float32", zeros.data(), zeros.size() * sizeof(float));
  run = {};
  sampler.copy_to(run);
  REQUIRE(run.samples.size() == 1);
  CHECK(run.samples[0].ratio > 2.9);  // as much as a sampled block has
  CHECK(run.buffers.empty());
  CHECK(short_type_name("ncclBfloat16") == "bfloat16");
  CHECK(element_bytes("bfloat16") == 2);
  CHECK(element_bytes("float8e4m3") == 1);
}

TEST_CASE("the file's name has rank, host and process") {
  whatif::Run run;
  run.rank = 3;
  run.host = "n7";
  run.pid = 42;
  CHECK(profile_file_name("/tmp/%h-run-%r.%p.json", run) == "/tmp/n7-run-3.42.json");
  run.rank = -1;
  CHECK(profile_file_name("run-%r%", run) == "run-pid42%");
}

TEST_CASE("a file is named after the largest communicator, and other ranks' files are kept") {
  const std::string path = "/tmp/dlcp-profile-" + std::to_string(getpid()) + "-";
  const auto exists = [&](int rank) {
    return access((path + std::to_string(rank)).c_str(), F_OK) == 0;
  };
  Profile pipeline(path + "%r"), first(path + "%r");
  pipeline.begin({1, 1, 2});
  pipeline.write();
  first.begin({2, 0, 2});
  first.write();
  CHECK(exists(1));
  pipeline.begin({3, 37, 64});
  pipeline.write();
  CHECK(exists(37));
  CHECK_FALSE(exists(1));
  pipeline.begin({4, 0, 128});
  pipeline.write();  // replaces the file of `first`
  CHECK_FALSE(exists(37));
  first.begin({4, 5, 128});
  first.write();
  CHECK(exists(5));
  CHECK(exists(0));
  for (const int rank : {0, 5})
    unlink((path + std::to_string(rank)).c_str());
}

TEST_CASE("the end of the last communicator does not wait for the next one, which begins then") {
  const std::string path = "/tmp/dlcp-profile-" + std::to_string(getpid());
  bool waited = false;
  for (int round = 0; round < 300 && !waited; ++round) {
    Profile profile(path);
    profile.begin({1, 0, 2});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // its thread waits
    std::atomic<bool> go{false}, ended{false};
    std::thread last([&] {
      while (!go) {
      }
      profile.end();
      ended = true;
    });
    go = true;
    for (std::atomic<int> i{0}; i < round * 97 % 4000;)
      ++i;
    profile.begin({2, 0, 2});
    for (int i = 0; i < 1000 && !ended; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    waited = !ended;
    profile.end();
    last.join();
  }
  CHECK_FALSE(waited);
  unlink(path.c_str());
}
