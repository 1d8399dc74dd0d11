// All-reduces of vectors for training scripts, over a ring of the net plugin's connections or
// through the CollNet plugin next to it: it does the work of NCCL's host side for one communicator
// with one channel, behind four C functions. Every function that can fail writes a text into
// `error` (kErrorBytes long) and returns null or -1.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/driver/collnet/collnet_reducer.h"
#include "cli/driver/ring/ring_channel.h"
#include "cli/plugin/collnet_plugin.h"
#include "cli/plugin/nccl_part.h"
#include "cli/plugin/net_plugin.h"
#include "dlcp/communicator_class.h"

namespace dlcp::training {
namespace {

using cli::require;
using Handle = std::array<char, nccl::kHandleBytes>;

constexpr std::size_t kErrorBytes = 512;

// The plugin's last warning explains a failure; its other log lines are not printed.
std::string g_last_warning;

__attribute__((format(printf, 5, 6))) void log_for_plugin(nccl::LogLevel level, unsigned long,
                                                          const char*, int, const char* format,
                                                          ...) {
  if (level != nccl::LogLevel::kWarn) return;
  char text[kErrorBytes];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  g_last_warning = text;
}

struct Settings {
  const char* plugin;
  int rank;
  int ranks;
  std::uint32_t budget_ppm;  // 0: no budget is stated, and the messages are not described
  std::uint64_t communicator;
  std::size_t count;  // elements of every vector
  cli::Reduction reduction;
  bool by_collnet;
};

class Communicator {
 public:
  explicit Communicator(const Settings& settings) : settings_(settings) {
    auto loaded = cli::LoadedPlugin::open(settings.plugin);
    if (!loaded) throw std::runtime_error(loaded.error().message());
    plugin_ = std::make_unique<cli::LoadedPlugin>(std::move(loaded.value()));
    begin();
    if (collnet_ != nullptr)
      require(collnet_->listen(0, handle_.data(), &listen_comm_), "collnet listen");
    else
      require(net().listen(0, handle_.data(), &listen_comm_), "listen");
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Handle& handle() const { return handle_; }
  // `handles`: of all ranks.
  void connect(std::vector<Handle>& handles);
  std::uint64_t reduce(const void* input, void* output);
  void close();

 private:
  cli::NetPlugin& net() { return plugin_->net(); }
  void begin();
  void connect_ring(Handle& next);
  void connect_collnet(std::vector<Handle>& handles);

  Settings settings_;
  std::unique_ptr<cli::LoadedPlugin> plugin_;
  std::unique_ptr<cli::CollNetPlugin> collnet_;  // null: a ring
  void* group_ = nullptr;
  std::unique_ptr<cli::CollNetReducer> reducer_;
  std::unique_ptr<cli::NcclPart> nccl_;
  std::unique_ptr<cli::RingChannel> channel_;
  Handle handle_{};
  void* listen_comm_ = nullptr;
  void* send_comm_ = nullptr;
  void* recv_comm_ = nullptr;
  std::uint64_t lost_before_ = 0;
};

void Communicator::begin() {
  if (settings_.budget_ppm > 0) {
    CommunicatorClass communicator_class;
    communicator_class.budget_ppm = settings_.budget_ppm;
    net().set_communicator_class(encode(communicator_class));
  }
  if (settings_.budget_ppm > 0 || settings_.by_collnet) {
    nccl_ = plugin_->nccl_part();
    if (nccl_ == nullptr)
      throw std::runtime_error(fmt::format(
          "{} has no profiler, which it needs to learn what is reduced", settings_.plugin));
  }
  require(net().init(settings_.communicator, log_for_plugin), "init");
  if (nccl_ != nullptr)
    require(nccl_->init(settings_.communicator, settings_.ranks, settings_.rank, log_for_plugin),
            "profiler init");
  int devices = 0;
  require(net().devices(devices), "devices");
  if (devices < 1) throw std::runtime_error("the plugin finds no network interface");
  if (settings_.by_collnet) {
    collnet_ = plugin_->collnet();
    if (collnet_ == nullptr)
      throw std::runtime_error(fmt::format("{} has no CollNet table", settings_.plugin));
    require(collnet_->init(settings_.communicator, log_for_plugin), "collnet init");
  }
}

void Communicator::connect(std::vector<Handle>& handles) {
  const auto next = static_cast<std::size_t>((settings_.rank + 1) % settings_.ranks);
  collnet_ != nullptr ? connect_collnet(handles) : connect_ring(handles[next]);
}

void Communicator::connect_collnet(std::vector<Handle>& handles) {
  std::vector<void*> all;
  for (Handle& handle : handles)
    all.push_back(handle.data());
  // A plugin that refuses has closed the listener.
  void* const listening = std::exchange(listen_comm_, nullptr);
  require(collnet_->connect(all, settings_.rank, listening, &group_), "collnet connect");
  require(collnet_->close_listen(listening), "collnet closeListen");
  constexpr int kChannels = 2;
  reducer_ = std::make_unique<cli::CollNetReducer>(
      *collnet_, group_, settings_.reduction, settings_.count * settings_.reduction.element_bytes(),
      kChannels, settings_.ranks, nccl_.get());
}

// A plugin may keep its state in the handle between calls.
void Communicator::connect_ring(Handle& next) {
  while (send_comm_ == nullptr || recv_comm_ == nullptr) {
    if (send_comm_ == nullptr) require(net().connect(0, next.data(), &send_comm_), "connect");
    if (recv_comm_ == nullptr) require(net().accept(listen_comm_, &recv_comm_), "accept");
    sched_yield();
  }
  require(net().close_listen(listen_comm_), "closeListen");
  listen_comm_ = nullptr;
  const auto bits = cli::bits_of(cli::CollectiveCall{});
  require(net().set_attributes(bits.function, bits.algorithm, bits.protocol), "setNetAttr");
  const cli::RingHop hop{net(), send_comm_, recv_comm_, settings_.rank, settings_.ranks};
  channel_ = std::make_unique<cli::RingChannel>(hop, 0, settings_.count, settings_.reduction);
}

std::uint64_t Communicator::reduce(const void* input, void* output) {
  if (reducer_ != nullptr) {
    reducer_->restart();
    while (!reducer_->done())
      if (!reducer_->step(input, output)) sched_yield();
    return 0;  // the owners count missing contributions
  }
  void* collective = nullptr;
  if (nccl_ != nullptr) {
    cli::CollectiveCall call;
    call.count = settings_.count;
    collective = nccl_->start_collective(call);
  }
  channel_->restart(nccl_.get(), collective);
  while (!channel_->done())
    if (!channel_->step(input, output)) sched_yield();
  const std::uint64_t lost = channel_->contributions_lost() - lost_before_;
  lost_before_ += lost;
  return lost;
}

void Communicator::close() {
  channel_.reset();
  reducer_.reset();
  if (group_ != nullptr) require(collnet_->close_coll(group_), "closeColl");
  if (send_comm_ != nullptr) require(net().close_send(send_comm_), "closeSend");
  if (recv_comm_ != nullptr) require(net().close_recv(recv_comm_), "closeRecv");
  if (listen_comm_ != nullptr && collnet_ == nullptr)
    require(net().close_listen(listen_comm_), "closeListen");
  if (collnet_ != nullptr) require(collnet_->finalize(), "collnet finalize");
  if (nccl_ != nullptr) require(nccl_->finalize(), "profiler finalize");
  require(net().finalize(), "finalize");
}

// Runs `call`; turns an exception into text in `error` and returns `failed`.
template <class Result, class Call>
Result guarded(char* error, Result failed, Call&& call) {
  try {
    return call();
  } catch (const std::exception& e) {
    std::string text = e.what();
    if (!g_last_warning.empty()) text += ": " + g_last_warning;
    text.resize(std::min(text.size(), kErrorBytes - 1));
    std::memcpy(error, text.c_str(), text.size() + 1);
    return failed;
  }
}

}  // namespace
}  // namespace dlcp::training

#define DLCP_EXPORT extern "C" __attribute__((visibility("default")))

using dlcp::training::Communicator;
using dlcp::training::guarded;
using dlcp::training::Handle;

// Listens; `handle` (128 bytes) is for the other ranks. `type`: of the elements, as NCCL numbers
// them (7: float32, 9: bfloat16); a budget needs float32.
DLCP_EXPORT Communicator* training_open(const char* plugin, int rank, int ranks,
                                        std::uint32_t budget_ppm, std::uint64_t communicator,
                                        std::uint64_t count, int type, int by_collnet, char* handle,
                                        char* error) {
  return guarded(
      error, static_cast<Communicator*>(nullptr),
      [&] {
        auto made = std::make_unique<Communicator>(dlcp::training::Settings{
            plugin,
            rank,
            ranks,
            budget_ppm,
            communicator,
            count,
            {static_cast<dlcp::collective::DataType>(type), dlcp::collective::ReduceOp::kSum},
            by_collnet != 0});
        std::memcpy(handle, made->handle().data(), made->handle().size());
        return made.release();
      });
}

// `handles`: of all ranks, in rank order. Returns when the connections of this rank are open.
DLCP_EXPORT int training_connect(Communicator* communicator, const char* handles, int ranks,
                                 char* error) {
  return guarded(
      error, -1,
      [&] {
        std::vector<Handle> all(static_cast<std::size_t>(ranks));
        for (Handle& handle : all) {
          std::memcpy(handle.data(), handles, handle.size());
          handles += handle.size();
        }
        communicator->connect(all);
        return 0;
      });
}

// output = the sum of all ranks' inputs; both may be the same. Returns how many contributions are
// missing from what this rank received in a ring; else 0.
DLCP_EXPORT std::int64_t training_reduce(Communicator* communicator, const void* input,
                                         void* output, char* error) {
  return guarded(
      error, std::int64_t{-1},
      [&] { return static_cast<std::int64_t>(communicator->reduce(input, output)); });
}

DLCP_EXPORT int training_close(Communicator* communicator, char* error) {
  const std::unique_ptr<Communicator> owned(communicator);
  return guarded(error, -1, [&] {
    owned->close();
    return 0;
  });
}
