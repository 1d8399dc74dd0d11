// Ring all-reduces of float vectors through a net plugin, for training scripts: what NCCL's host
// side does for one communicator of one channel, behind four C functions. Every function that can
// fail writes a text into `error` (of kErrorBytes) and returns null or -1.
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

#include "cli/bench/bench_case.h"
#include "cli/bench/nccl_part.h"
#include "cli/bench/net_plugin.h"
#include "cli/bench/ring_channel.h"
#include "dlcp/communicator_class.h"

namespace dlcp::training {
namespace {

using cli::require;
using Handle = std::array<char, nccl::kHandleBytes>;

constexpr std::size_t kErrorBytes = 512;

// The plugin's last warning explains a failure; the rest of what it logs is not ours to show.
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
  std::uint32_t budget_ppm;  // 0: no budget is stated, and nobody tells what the messages are
  std::uint64_t communicator;
  std::size_t count;  // of every vector
};

class Communicator {
 public:
  explicit Communicator(const Settings& settings) : settings_(settings) {
    auto loaded = cli::LoadedPlugin::open(settings.plugin);
    if (!loaded) throw std::runtime_error(loaded.error().message());
    plugin_ = std::make_unique<cli::LoadedPlugin>(std::move(loaded.value()));
    begin();
    require(net().listen(0, handle_.data(), &listen_comm_), "listen");
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Handle& handle() const { return handle_; }
  void connect(const Handle& next);
  std::uint64_t reduce(const float* input, float* output);
  void close();

 private:
  cli::NetPlugin& net() { return plugin_->net(); }
  void begin();

  Settings settings_;
  std::unique_ptr<cli::LoadedPlugin> plugin_;
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
    nccl_ = plugin_->nccl_part();
    if (nccl_ == nullptr)
      throw std::runtime_error(
          fmt::format("{} has no profiler, so it cannot be given a budget", settings_.plugin));
  }
  require(net().init(settings_.communicator, log_for_plugin), "init");
  if (nccl_ != nullptr)
    require(nccl_->init(settings_.communicator, settings_.ranks, settings_.rank, log_for_plugin),
            "profiler init");
  int devices = 0;
  require(net().devices(devices), "devices");
  if (devices < 1) throw std::runtime_error("the plugin finds no network interface");
}

void Communicator::connect(const Handle& next) {
  Handle mine = next;  // a plugin may keep its state there between calls
  while (send_comm_ == nullptr || recv_comm_ == nullptr) {
    if (send_comm_ == nullptr) require(net().connect(0, mine.data(), &send_comm_), "connect");
    if (recv_comm_ == nullptr) require(net().accept(listen_comm_, &recv_comm_), "accept");
    sched_yield();
  }
  require(net().close_listen(listen_comm_), "closeListen");
  listen_comm_ = nullptr;
  const auto bits = cli::bits_of(cli::CollectiveCall{});
  require(net().set_attributes(bits.function, bits.algorithm, bits.protocol), "setNetAttr");
  const cli::RingHop hop{net(), send_comm_, recv_comm_, settings_.rank, settings_.ranks};
  channel_ = std::make_unique<cli::RingChannel>(hop, 0, settings_.count);
}

std::uint64_t Communicator::reduce(const float* input, float* output) {
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
  if (send_comm_ != nullptr) require(net().close_send(send_comm_), "closeSend");
  if (recv_comm_ != nullptr) require(net().close_recv(recv_comm_), "closeRecv");
  if (listen_comm_ != nullptr) require(net().close_listen(listen_comm_), "closeListen");
  if (nccl_ != nullptr) require(nccl_->finalize(), "profiler finalize");
  require(net().finalize(), "finalize");
}

// Runs `call`; what it throws becomes text in `error` and `failed`.
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

// Listens; `handle` (128 bytes) is for the rank before this one.
DLCP_EXPORT Communicator* training_open(const char* plugin, int rank, int ranks,
                                        std::uint32_t budget_ppm, std::uint64_t communicator,
                                        std::uint64_t count, char* handle, char* error) {
  return guarded(
      error, static_cast<Communicator*>(nullptr),
      [&] {
        auto made = std::make_unique<Communicator>(
            dlcp::training::Settings{plugin, rank, ranks, budget_ppm, communicator, count});
        std::memcpy(handle, made->handle().data(), made->handle().size());
        return made.release();
      });
}

// `next`: the handle of the rank after this one. Returns when both neighbours are connected.
DLCP_EXPORT int training_connect(Communicator* communicator, const char* next, char* error) {
  return guarded(
      error, -1,
      [&] {
        Handle handle;
        std::memcpy(handle.data(), next, handle.size());
        communicator->connect(handle);
        return 0;
      });
}

// output = the sum of all ranks' inputs; both may be the same. Returns how many contributions are
// missing from what this rank received.
DLCP_EXPORT std::int64_t training_reduce(Communicator* communicator, const float* input,
                                         float* output, char* error) {
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
