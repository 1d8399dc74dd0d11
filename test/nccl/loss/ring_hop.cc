#include "ring_hop.h"

#include <dlfcn.h>

#include <array>
#include <deque>
#include <numeric>

#include "catch.h"
#include "nccl/abi/tuner.h"
#include "nccl/plugin.h"
#include "util/rng.h"

namespace dlcp::test {
namespace {

constexpr std::byte kUntouched{0xa5};
constexpr std::size_t kUnderWay = 4;  // messages in flight, as in NCCL's ring

void fill_non_zero(std::vector<std::byte>& memory, std::uint64_t seed) {
  Rng rng(seed);
  for (std::byte& byte : memory)
    byte = static_cast<std::byte>(1 + rng.below(255));
}

const nccl::TunerV6& tuner() {
  void* library = dlopen(DLCP_PLUGIN_PATH, RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library != nullptr);
  const auto* table = static_cast<const nccl::TunerV6*>(dlsym(library, nccl::kTunerSymbolV6));
  dlclose(library);  // another dlopen keeps the plugin loaded
  REQUIRE(table != nullptr);
  return *table;
}

}  // namespace

RingHop::RingHop(const HopOptions& options) {
  for (int side = 0; side < 2; ++side) {
    auto opened = cli::LoadedPlugin::open(DLCP_PLUGIN_PATH, options.net_version);
    REQUIRE(opened.ok());
    sides_.push_back(std::make_unique<Side>(std::move(opened).value()));
    Side& one = *sides_.back();
    const int own = side == 1
                        ? options.receiver_communicator_class.value_or(options.communicator_class)
                        : options.communicator_class;
    one.net().set_communicator_class(own);
    REQUIRE(one.net().init(77, logger) == nccl::ResultCode::kSuccess);
    if (options.profiler_version != 0) {
      one.part = one.plugin.nccl_part(options.profiler_version);
      REQUIRE(one.part != nullptr);
      REQUIRE(one.part->init(options.profiled_comm_id, options.ranks, side, logger) ==
              nccl::ResultCode::kSuccess);
    }
  }
  if (options.child_is_first) {
    begin_child(0);
    begin_child(1);
  }
  if (options.tuner_is_first) take_tuner(77, static_cast<std::size_t>(options.ranks));
  connect(*sides_[0], *sides_[1], &sides_[0]->comm, &sides_[1]->comm, &listeners_[0]);
  connect(*sides_[1], *sides_[0], &sides_[1]->back, &sides_[0]->back, &listeners_[1]);
}

RingHop::~RingHop() {
  drop_tuners();
  for (const auto& side : sides_) {
    if (side->registration != nullptr) side->net().dereg_mr(side->comm, side->registration);
    side->net().close_send(side->comm);
    side->net().close_recv(side->back);
  }
  sides_[1]->net().close_listen(listeners_[0]);
  sides_[0]->net().close_listen(listeners_[1]);
  for (const auto& side : sides_) {
    if (side->child != nullptr) side->child->finalize();
    if (side->part != nullptr) side->part->finalize();
    side->net().finalize();
  }
}

void RingHop::connect(Side& from, Side& to, void** send, void** recv, void** listener) {
  Handle handle;
  REQUIRE(to.net().listen(0, handle.data(), listener) == nccl::ResultCode::kSuccess);
  REQUIRE(within(std::chrono::seconds(20), [&] {
    if (*send == nullptr)
      REQUIRE(from.net().connect(0, handle.data(), send) == nccl::ResultCode::kSuccess);
    if (*recv == nullptr) REQUIRE(to.net().accept(*listener, recv) == nccl::ResultCode::kSuccess);
    return *send != nullptr && *recv != nullptr;
  }));
}

void RingHop::run_back(const HopRun& run) {
  Side& from = *sides_[1];
  Side& to = *sides_[0];
  tell(from, run);
  std::vector<std::byte> data(run.bytes);
  std::vector<std::byte> into(run.bytes);
  const auto operation = start(1, run);
  void* send = nullptr;
  void* receive = nullptr;
  int sent = 0;
  int received = 0;
  REQUIRE(within(std::chrono::seconds(20), [&] {
    int size = 0;
    if (receive == nullptr)
      to.net().irecv(to.back, into.data(), into.size(), 0, nullptr, false, &receive);
    else if (received == 0)
      to.net().test(receive, received, size);
    if (send == nullptr)
      from.net().isend(from.back, data.data(), data.size(), 0, nullptr, &send,
                       operation->phandle(0));
    else if (sent == 0)
      from.net().test(send, sent, size);
    return sent != 0 && received != 0;
  }));
}

bool RingHop::events_wanted() const {
  return sides_[0]->part != nullptr && sides_[0]->part->events_wanted();
}

void RingHop::tell(Side& side, const HopRun& run) {
  if (run.tells_attributes) {
    const auto bits = run.attributes.value_or(bits_of(run.call));
    side.net().set_attributes(bits.function, bits.algorithm, bits.protocol);
  }
}

void RingHop::take_tuner(std::uint64_t comm_id, std::size_t ranks) {
  void*& context = tuners_.emplace_back();
  REQUIRE(tuner().init(&context, comm_id, ranks, ranks, logger, nullptr, nullptr) ==
          nccl::ResultCode::kSuccess);
}

void RingHop::drop_tuners() {
  for (void* context : tuners_)
    tuner().finalize(context);
  tuners_.clear();
}

void RingHop::capture(HopRun& run) {
  for (std::size_t side = 0; side < 2; ++side)
    run.collective[side] = sides_[side]->part->start_collective(run.call);
}

void RingHop::begin_child(int side) {
  Side& one = *sides_[static_cast<std::size_t>(side)];
  if (one.child != nullptr) return;
  one.child = one.plugin.nccl_part(one.part->version());
  REQUIRE(one.child->init(78, 4, side, logger) == nccl::ResultCode::kSuccess);
}

std::unique_ptr<cli::ProxyOperation> RingHop::start(int side, const HopRun& run) {
  const auto i = static_cast<std::size_t>(side);
  cli::NcclPart* part = sides_[i]->part.get();
  if (part == nullptr) return nullptr;
  if (run.of_child) {
    begin_child(side);
    part = sides_[i]->child.get();
  }
  void* collective =
      run.collective[i] != nullptr ? run.collective[i] : part->start_collective(run.call);
  return std::make_unique<cli::ProxyOperation>(*part, collective, run.steps, side == 0,
                                               run.chunk_bytes,
                                               run.proxy_of_other_process ? getppid() : getpid());
}

void RingHop::move(const HopRun& run, cli::ProxyOperation* from, cli::ProxyOperation* to) {
  std::deque<void*> sends;
  std::deque<void*> receives;
  int sent = 0;
  int posted = 0;
  const auto phandle = [](cli::ProxyOperation* operation, int step) {
    return operation != nullptr ? operation->phandle(step) : nullptr;
  };
  const auto test = [&](Side& side, std::deque<void*>& requests) {
    int done = 0;
    int size = 0;
    if (!requests.empty()) {
      REQUIRE(side.net().test(requests.front(), done, size) == nccl::ResultCode::kSuccess);
      if (done != 0) {
        requests.pop_front();
      }
    }
  };
  Side& a = *sides_[0];
  Side& b = *sides_[1];
  REQUIRE(within(std::chrono::seconds(60), [&] {
    void* request = nullptr;
    if (posted < run.steps && receives.size() < kUnderWay) {
      std::byte* data = b.memory.data() + static_cast<std::size_t>(posted) * run.posted_bytes;
      REQUIRE(b.net().irecv(b.comm, data, run.posted_bytes, 0, b.registration, false, &request,
                            phandle(to, posted)) == nccl::ResultCode::kSuccess);
      if (request != nullptr) {
        receives.push_back(request);
        ++posted;
      }
    }
    request = nullptr;
    if (sent < run.steps && sends.size() < kUnderWay) {
      std::byte* data = a.memory.data() + static_cast<std::size_t>(sent) * run.posted_bytes;
      REQUIRE(a.net().isend(a.comm, data, run.bytes, 0, a.registration, &request,
                            phandle(from, sent)) == nccl::ResultCode::kSuccess);
      if (request != nullptr) {
        sends.push_back(request);
        ++sent;
      }
    }
    test(a, sends);
    test(b, receives);
    return posted == run.steps && sent == run.steps && sends.empty() && receives.empty();
  }));
}

std::vector<std::size_t> RingHop::run(const HopRun& run) {
  const auto messages = static_cast<std::size_t>(run.steps);
  for (const auto& side : sides_) {
    if (side->registration != nullptr) side->net().dereg_mr(side->comm, side->registration);
    side->memory.assign(messages * run.posted_bytes, kUntouched);
    REQUIRE(side->net().reg_mr(side->comm, side->memory.data(), side->memory.size(),
                               &side->registration) == nccl::ResultCode::kSuccess);
    tell(*side, run);
  }
  fill_non_zero(sides_[0]->memory, seed_++);
  const auto from = start(0, run);
  const auto to = start(1, run);
  move(run, from.get(), to.get());
  std::vector<std::size_t> lost(messages);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sides_[0]->memory.size(); ++i) {
    const std::byte got = sides_[1]->memory[i];
    if (i % run.posted_bytes >= run.bytes) {
      wrong += got != kUntouched ? 1 : 0;
      continue;
    }
    const bool zero = got == std::byte{0};
    lost[i / run.posted_bytes] += zero ? 1 : 0;
    wrong += !zero && got != sides_[0]->memory[i] ? 1 : 0;
  }
  REQUIRE(wrong == 0);
  return lost;
}

std::size_t total(const std::vector<std::size_t>& lost) {
  return std::accumulate(lost.begin(), lost.end(), std::size_t{0});
}

}  // namespace dlcp::test
