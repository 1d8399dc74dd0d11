// The cases that the ranks run. Every case checks every element of every result.
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "rank.h"

namespace nccl_host {
namespace {

using Reductions = std::deque<Reduction>;  // whose addresses do not change

constexpr std::size_t kSizes[] = {1, 1000,    8192,    65'537, 300'000,  262'144,
                                  5, 750'000, 123'457, 3,      1'000'003};

void finish_and_check(Rank& me, ncclComm_t comm, const Reductions& reductions, int group = 0) {
  me.finish(comm, me.stream());
  for (const auto& reduction : reductions)
    me.check(reduction, group);
}

// A single all-reduce of all ranks.
void reduce(Rank& me, ncclComm_t comm, const Shape& shape) {
  Reductions reductions;
  reductions.emplace_back(shape, me.rank(), me.ranks());
  me.require(reductions[0].enqueue(comm, me.stream()), "ncclAllReduce", comm);
  finish_and_check(me, comm, reductions);
}

// Every type by every operation, in sizes that do not fill a slot.
void types(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  constexpr ncclDataType_t kTypes[] = {ncclInt8,    ncclUint8,   ncclInt32,   ncclUint32,
                                       ncclInt64,   ncclUint64,  ncclFloat16, ncclFloat32,
                                       ncclFloat64, ncclBfloat16};
  constexpr ncclRedOp_t kOps[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};
  int seed = 0;
  for (const ncclDataType_t type : kTypes) {
    for (const ncclRedOp_t op : kOps) {
      Reductions reductions;
      for (const std::size_t count : {std::size_t{1}, std::size_t{1001}, std::size_t{200'003}}) {
        const Shape shape{type, op, count, ++seed};
        reductions.emplace_back(shape, me.rank(), me.ranks());
        me.require(reductions.back().enqueue(comms[0], me.stream()), "ncclAllReduce", comms[0]);
      }
      finish_and_check(me, comms[0], reductions);
    }
  }
}

// One after another, then in groups; first sums, then also averages and maxima.
void groups(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  constexpr ncclRedOp_t kMixed[] = {ncclSum, ncclAvg, ncclMax};
  for (int round = 0; round < 3; ++round) {
    Reductions reductions;
    int seed = 100 * round;
    for (const std::size_t count : kSizes) {
      const ncclRedOp_t op = round == 1 ? kMixed[seed % 3] : ncclSum;
      const Shape shape{ncclFloat32, op, count, ++seed};
      reductions.emplace_back(shape, me.rank(), me.ranks());
    }
    if (round > 0) me.require(ncclGroupStart(), "ncclGroupStart");
    for (const auto& reduction : reductions)
      me.require(reduction.enqueue(comms[0], me.stream()), "ncclAllReduce", comms[0]);
    if (round > 0) me.require(ncclGroupEnd(), "ncclGroupEnd", comms[0]);
    finish_and_check(me, comms[0], reductions);
  }
}

// Halves of the communicator, alternating with the whole.
void split(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  const int color = me.rank() % 2;
  const int members = (me.ranks() + 1 - color) / 2;
  ncclComm_t child = nullptr;
  me.require(ncclCommSplit(comms[0], color, me.rank(), &child, nullptr), "ncclCommSplit", comms[0]);
  comms.insert(comms.begin(), child);  // destroyed first
  int seed = 1000;
  for (const std::size_t count : kSizes) {
    const Shape shape{ncclFloat32, ncclSum, count, ++seed};
    reduce(me, comms[1], shape);
    Reductions half;
    half.emplace_back(shape, me.rank() / 2, members);
    me.require(half[0].enqueue(child, me.stream()), "ncclAllReduce", child);
    finish_and_check(me, child, half, 1 + color);
  }
}

// Two communicators of the same ranks at the same time, each on its own stream.
void two(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open(0));
  comms.push_back(me.open(1));
  cudaStream_t const streams[] = {me.stream(), me.open_stream()};
  int seed = 2000;
  for (int round = 0; round < 3; ++round) {
    Reductions reductions;
    for (const std::size_t count : kSizes) {
      for (std::size_t i = 0; i < 2; ++i) {
        const Shape shape{ncclFloat32, ncclSum, count, ++seed};
        reductions.emplace_back(shape, me.rank(), me.ranks());
        me.require(reductions.back().enqueue(comms[i], streams[i]), "ncclAllReduce", comms[i]);
      }
    }
    me.finish(comms[1], streams[1]);
    finish_and_check(me, comms[0], reductions);
  }
}

// Collectives that CollNet does not support, mixed with supported ones.
void others(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  const auto ranks = static_cast<std::size_t>(me.ranks());
  int seed = 3000;
  for (const std::size_t count : {std::size_t{1000}, std::size_t{65'537}, std::size_t{200'001}}) {
    const Shape shape{ncclFloat32, ncclSum, count * ranks, ++seed};
    reduce(me, comms[0], shape);
    // Scattering the same sum and gathering its parts again gives the same result.
    const Reduction again(shape, me.rank(), me.ranks());
    auto* const part =
        static_cast<float*>(again.output()) + count * static_cast<std::size_t>(me.rank());
    me.require(
        ncclReduceScatter(again.input(), part, count, ncclFloat32, ncclSum, comms[0], me.stream()),
        "ncclReduceScatter", comms[0]);
    me.require(ncclAllGather(part, again.output(), count, ncclFloat32, comms[0], me.stream()),
               "ncclAllGather", comms[0]);
    me.finish(comms[0], me.stream());
    me.check(again);
  }
}

// Buffers that the user has registered with NCCL.
void registered(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  int seed = 4000;
  for (const std::size_t count : kSizes) {
    const Shape shape{ncclFloat32, ncclSum, count, ++seed};
    Reductions reductions;
    const Reduction& reduction = reductions.emplace_back(shape, me.rank(), me.ranks());
    void* handles[2] = {};
    me.require(ncclCommRegister(comms[0], reduction.input(), reduction.bytes(), &handles[0]),
               "ncclCommRegister", comms[0]);
    me.require(ncclCommRegister(comms[0], reduction.output(), reduction.bytes(), &handles[1]),
               "ncclCommRegister", comms[0]);
    for (int round = 0; round < 3; ++round)
      me.require(reduction.enqueue(comms[0], me.stream()), "ncclAllReduce", comms[0]);
    finish_and_check(me, comms[0], reductions);
    for (void* handle : handles)
      me.require(ncclCommDeregister(comms[0], handle), "ncclCommDeregister", comms[0]);
  }
}

struct Held {  // resources of this process
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t kilobytes = 0;  // resident
};

Held held() {
  const auto entries = [](const char* folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
      ++count;
    return count;
  };
  Held held{entries("/proc/self/fd"), entries("/proc/self/task"), 0};
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) held.kilobytes = std::stoul(line.substr(6));
  return held;
}

// Communicators one after another: later ones must release the resources that the first ones
// allocated.
void reopened(Rank& me, std::vector<ncclComm_t>&) {
  constexpr int kSettled = 3;
  constexpr std::size_t kKilobytesMax = 8 << 10;
  Held early;
  for (int round = 0; round < kCommsMax; ++round) {
    ncclComm_t const comm = me.open(round);
    reduce(me, comm, {ncclFloat32, ncclSum, 300'000, 6000 + round});
    me.close(comm);
    if (round == kSettled) early = held();
  }
  const Held late = held();
  const bool leaks = late.descriptors > early.descriptors || late.threads > early.threads ||
                     late.kilobytes > early.kilobytes + kKilobytesMax;
  const auto text = [](const Held& one) {
    return std::to_string(one.descriptors) + " descriptors, " + std::to_string(one.threads) +
           " threads, " + std::to_string(one.kilobytes) + " KiB";
  };
  me.count_wrong(leaks ? 1 : 0, 0,
                 "after " + std::to_string(kSettled + 1) + " communicators it held " + text(early) +
                     ", after " + std::to_string(kCommsMax) + " " + text(late));
}

// All-reduces that one rank never joins, so that all ranks abort; the next communicator must not be
// affected.
void aborted(Rank& me, std::vector<ncclComm_t>& comms) {
  constexpr useconds_t kUnderWay = 300'000;
  ncclComm_t const first = me.open(0);
  Reductions unfinished;
  for (int seed = 7000; me.rank() != 0 && seed < 7004; ++seed) {
    const Shape shape{ncclFloat32, ncclSum, 1'000'003, seed};
    unfinished.emplace_back(shape, me.rank(), me.ranks());
    me.require(unfinished.back().enqueue(first, me.stream()), "ncclAllReduce", first);
  }
  usleep(kUnderWay);
  me.require(ncclCommAbort(first), "ncclCommAbort");
  cudaStreamSynchronize(me.stream());
  comms.push_back(me.open(1));
  reduce(me, comms[0], {ncclFloat32, ncclSum, 300'000, 7100});
}

// For a rank that is killed before the end.
void many(Rank& me, std::vector<ncclComm_t>& comms) {
  comms.push_back(me.open());
  for (int seed = 5000; seed < 5400; ++seed) {
    const std::size_t count = seed % 2 == 0 ? 300'000 : 777;
    reduce(me, comms[0], {ncclFloat32, ncclSum, count, seed});
  }
}

// The steps of a training job: a pause, in which a job would compute, and three gradients.
void steps(Rank& me, std::vector<ncclComm_t>& comms) {
  constexpr useconds_t kComputes = 5'000;
  comms.push_back(me.open());
  int seed = 8000;
  for (int step = 0; step < 20; ++step) {
    usleep(kComputes);
    Reductions reductions;
    for (const std::size_t count : {std::size_t{777}, std::size_t{300'000}, std::size_t{600'000}}) {
      reductions.emplace_back(Shape{ncclFloat32, ncclSum, count, ++seed}, me.rank(), me.ranks());
      me.require(reductions.back().enqueue(comms[0], me.stream()), "ncclAllReduce", comms[0]);
    }
    finish_and_check(me, comms[0], reductions);
  }
}

const std::map<std::string, Case>& all_cases() {
  static const std::map<std::string, Case> cases = {
      {"types", types},       {"groups", groups},   {"split", split},
      {"two", two},           {"others", others},   {"registered", registered},
      {"reopened", reopened}, {"aborted", aborted}, {"many", many},
      {"steps", steps}};
  return cases;
}

}  // namespace

Case case_named(const std::string& name) {
  const auto found = all_cases().find(name);
  return found != all_cases().end() ? found->second : nullptr;
}

std::string case_names() {
  std::string names;
  for (const auto& [name, unused] : all_cases())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace nccl_host
