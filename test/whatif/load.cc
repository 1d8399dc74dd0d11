// One rank of a made training job: it computes (sleeps, as a host does while its GPU works), then
// reduces buffers over a net plugin, and tells a profiler about it as NCCL does. Net plugin and
// profiler may be different libraries, as when NCCL uses its own network.
//
//   whatif_load NET_PLUGIN PROFILER|- RANK RANKS FOLDER ring|direct STEPS COMPUTE_MS
//   BYTES[,BYTES...]
//
// The profiler "-" is none. FOLDER is where ranks exchange handles. Prints the seconds of each
// step.
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/driver/collnet/collnet_reducer.h"
#include "cli/driver/ring/ring_channel.h"
#include "cli/plugin/collnet_plugin.h"
#include "cli/plugin/nccl_part.h"
#include "cli/plugin/net_plugin.h"
#include "util/rng.h"

namespace {

using namespace dlcp;
using cli::require;
using Clock = std::chrono::steady_clock;
using Handle = std::array<char, nccl::kHandleBytes>;

constexpr std::uint64_t kCommunicator = 0x77686174;
constexpr int kCollnetChannels = 2;

struct Load {
  std::string plugin, profiler, folder;
  int rank = 0, ranks = 1, steps = 1;
  bool direct = false;
  double compute_ms = 0;
  std::vector<std::size_t> bytes;
};

void no_log(nccl::LogLevel, unsigned long, const char*, int, const char*, ...) {}

// Numbers distributed like gradients, so that compression has something to find.
std::vector<float> gradients(std::size_t count, int seed) {
  Rng rng(static_cast<std::uint64_t>(seed) + 1);
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = 0;
    for (int i = 0; i < 4; i++)
      sum += static_cast<double>(rng.next() >> 40) / static_cast<double>(1 << 24) - 0.5;
    value = static_cast<float>(1e-3 * sum);
  }
  return values;
}

cli::LoadedPlugin loaded(const std::string& name) {
  auto plugin = cli::LoadedPlugin::open(name);
  if (!plugin) throw std::runtime_error(plugin.error().message());
  return std::move(plugin).value();
}

class Rank {
 public:
  explicit Rank(const Load& load) : load_(load), plugin_(loaded(load.plugin)) {
    if (load.profiler == load.plugin || load.direct)
      part_ = plugin_.nccl_part();
    else if (load.profiler != "-")
      part_ = profiler_.emplace(loaded(load.profiler)).nccl_part();
    require(net().init(kCommunicator, no_log), "init");
    if (part_ != nullptr)
      require(part_->init(kCommunicator, load.ranks, load.rank, no_log), "profiler init");
    int devices = 0;
    require(net().devices(devices), "devices");
    if (devices < 1) throw std::runtime_error("the plugin finds no network interface");
    connect();
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void run() {
    std::vector<std::vector<float>> buffers, results;
    for (const std::size_t bytes : load_.bytes) {
      buffers.push_back(gradients(bytes / sizeof(float), load_.rank));
      results.emplace_back(bytes / sizeof(float));
    }
    Clock::time_point before = Clock::now();
    for (int step = 0; step < load_.steps; step++) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(load_.compute_ms));
      for (std::size_t i = 0; i < buffers.size(); i++)
        reduce(i, buffers[i].data(), results[i].data());
      const Clock::time_point now = Clock::now();
      fmt::print("{:.6f}\n", std::chrono::duration<double>(now - before).count());
      before = now;
    }
  }

  void close() {
    channels_.clear();
    reducers_.clear();
    if (group_ != nullptr) require(collnet_->close_coll(group_), "closeColl");
    if (send_comm_ != nullptr) require(net().close_send(send_comm_), "closeSend");
    if (recv_comm_ != nullptr) require(net().close_recv(recv_comm_), "closeRecv");
    if (collnet_ != nullptr) require(collnet_->finalize(), "collnet finalize");
    if (part_ != nullptr) require(part_->finalize(), "profiler finalize");
    require(net().finalize(), "finalize");
  }

 private:
  cli::NetPlugin& net() { return plugin_.net(); }

  std::string place(int rank) const { return fmt::format("{}/handle{}", load_.folder, rank); }

  std::vector<Handle> exchange(const Handle& mine) {
    const std::string part = place(load_.rank) + ".part";
    std::ofstream(part, std::ios::binary).write(mine.data(), mine.size());
    if (std::rename(part.c_str(), place(load_.rank).c_str()) != 0)
      throw std::runtime_error("cannot write into " + load_.folder);
    std::vector<Handle> all(static_cast<std::size_t>(load_.ranks));
    for (int rank = 0; rank < load_.ranks; rank++) {
      struct stat status;
      while (::stat(place(rank).c_str(), &status) != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      std::ifstream(place(rank), std::ios::binary)
          .read(all[static_cast<std::size_t>(rank)].data(), nccl::kHandleBytes);
    }
    return all;
  }

  void connect() { load_.direct ? connect_collnet() : connect_ring(); }

  void connect_ring() {
    Handle handle{};
    void* listening = nullptr;
    require(net().listen(0, handle.data(), &listening), "listen");
    auto all = exchange(handle);
    Handle& next = all[static_cast<std::size_t>((load_.rank + 1) % load_.ranks)];
    while (send_comm_ == nullptr || recv_comm_ == nullptr) {
      if (send_comm_ == nullptr) require(net().connect(0, next.data(), &send_comm_), "connect");
      if (recv_comm_ == nullptr) require(net().accept(listening, &recv_comm_), "accept");
      sched_yield();
    }
    require(net().close_listen(listening), "closeListen");
    const cli::RingHop hop{net(), send_comm_, recv_comm_, load_.rank, load_.ranks};
    for (const std::size_t bytes : load_.bytes)
      channels_.push_back(
          std::make_unique<cli::RingChannel>(hop, 0, bytes / sizeof(float), cli::Reduction{}));
  }

  void connect_collnet() {
    collnet_ = plugin_.collnet();
    if (collnet_ == nullptr) throw std::runtime_error("the plugin has no CollNet table");
    require(collnet_->init(kCommunicator, no_log), "collnet init");
    Handle handle{};
    void* listening = nullptr;
    require(collnet_->listen(0, handle.data(), &listening), "collnet listen");
    auto all = exchange(handle);
    std::vector<void*> pointers;
    for (Handle& one : all)
      pointers.push_back(one.data());
    require(collnet_->connect(pointers, load_.rank, listening, &group_), "collnet connect");
    require(collnet_->close_listen(listening), "collnet closeListen");
    for (const std::size_t bytes : load_.bytes)
      reducers_.push_back(std::make_unique<cli::CollNetReducer>(
          *collnet_, group_, cli::Reduction{}, bytes, kCollnetChannels, load_.ranks, part_.get()));
  }

  // A rank that waits sleeps, so that more ranks than processors do not take turns at polling.
  template <class Reducer>
  static void drive(Reducer& reducer, const float* input, float* output) {
    while (!reducer.done())
      if (!reducer.step(input, output)) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

  void reduce(std::size_t index, const float* input, float* output) {
    if (load_.direct) {
      reducers_[index]->restart();
      drive(*reducers_[index], input, output);
      return;
    }
    void* collective = nullptr;
    void* kernel = nullptr;
    if (part_ != nullptr) {
      cli::CollectiveCall call;
      call.count = load_.bytes[index] / sizeof(float);
      call.input = input;
      collective = part_->start_collective(call);
      kernel = part_->start_kernel(collective, 0);
    }
    channels_[index]->restart(part_.get(), collective);
    drive(*channels_[index], input, output);
    if (part_ != nullptr) part_->stop(kernel);
  }

  Load load_;
  cli::LoadedPlugin plugin_;
  std::optional<cli::LoadedPlugin> profiler_;
  std::unique_ptr<cli::NcclPart> part_;  // null: nothing is told
  std::unique_ptr<cli::CollNetPlugin> collnet_;
  std::vector<std::unique_ptr<cli::RingChannel>> channels_;  // by buffer
  std::vector<std::unique_ptr<cli::CollNetReducer>> reducers_;
  void* group_ = nullptr;
  void* send_comm_ = nullptr;
  void* recv_comm_ = nullptr;
};

Load parse(char** argv) {
  Load load;
  load.plugin = argv[1];
  load.profiler = argv[2];
  load.rank = std::atoi(argv[3]);
  load.ranks = std::atoi(argv[4]);
  load.folder = argv[5];
  load.direct = std::string(argv[6]) == "direct";
  load.steps = std::atoi(argv[7]);
  load.compute_ms = std::atof(argv[8]);
  std::istringstream sizes(argv[9]);
  for (std::string one; std::getline(sizes, one, ',');)
    load.bytes.push_back(std::stoul(one));
  return load;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) {
    fmt::print(stderr, "whatif_load: 9 arguments are expected; see the head of its source\n");
    return 2;
  }
  try {
    Rank rank(parse(argv));
    rank.run();
    rank.close();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "whatif_load: {}\n", error.what());
    return 1;
  }
}
