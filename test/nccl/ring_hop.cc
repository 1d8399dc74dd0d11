#include "ring_hop.h"

#include <array>
#include <deque>
#include <numeric>

#include "catch.h"
#include "plugin.h"
#include "util/rng.h"

namespace dlcp::test {
namespace {

constexpr std::size_t kUnderWay = 4;  // messages, as in NCCL's ring

void fill_non_zero(std::vector<std::byte>& memory, std::uint64_t seed) {
  Rng rng(seed);
  for (std::byte& byte : memory) {
    byte = static_cast<std::byte>(1 + rng.below(255));
  }
}

}  // namespace

RingHop::RingHop(const HopOptions& options) {
  for (int side = 0; side < 2; ++side) {
    auto opened = cli::LoadedPlugin::open(DLCP_PLUGIN_PATH, options.net_version);
    REQUIRE(opened.ok());
    sides_.push_back(std::make_unique<Side>(std::move(opened).value()));
    Side& one = *sides_.back();
    const int own = side == 1 ? options.receiver_traffic_class.value_or(options.traffic_class)
                              : options.traffic_class;
    one.net().set_traffic_class(own);
    REQUIRE(one.net().init(77, logger) == nccl::ResultCode::kSuccess);
    if (options.profiler_version != 0) {
      one.part = one.plugin.nccl_part(options.profiler_version);
      REQUIRE(one.part != nullptr);
      REQUIRE(one.part->init(77, options.ranks, side, logger) == nccl::ResultCode::kSuccess);
    }
  }
  connect();
}

RingHop::~RingHop() {
  for (const auto& side : sides_) {
    if (side->registration != nullptr) {
      side->net().dereg_mr(side->comm, side->registration);
    }
    side->net().close_send(side->comm);
  }
  sides_[1]->net().close_listen(listener_);
  for (const auto& side : sides_) {
    if (side->part != nullptr) {
      side->part->finalize();
    }
    side->net().finalize();
  }
}

void RingHop::connect() {
  Handle handle;
  REQUIRE(sides_[1]->net().listen(0, handle.data(), &listener_) == nccl::ResultCode::kSuccess);
  REQUIRE(within(std::chrono::seconds(20), [&] {
    if (sides_[0]->comm == nullptr) {
      REQUIRE(sides_[0]->net().connect(0, handle.data(), &sides_[0]->comm) ==
              nccl::ResultCode::kSuccess);
    }
    if (sides_[1]->comm == nullptr) {
      REQUIRE(sides_[1]->net().accept(listener_, &sides_[1]->comm) == nccl::ResultCode::kSuccess);
    }
    return sides_[0]->comm != nullptr && sides_[1]->comm != nullptr;
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

void RingHop::capture(HopRun& run) {
  for (std::size_t side = 0; side < 2; ++side) {
    run.collective[side] = sides_[side]->part->start_collective(run.call);
  }
}

std::unique_ptr<cli::ProxyOperation> RingHop::start(int side, const HopRun& run) {
  const auto i = static_cast<std::size_t>(side);
  cli::NcclPart* part = sides_[i]->part.get();
  if (part == nullptr) {
    return nullptr;
  }
  void* collective =
      run.collective[i] != nullptr ? run.collective[i] : part->start_collective(run.call);
  return std::make_unique<cli::ProxyOperation>(*part, collective, run.steps, side == 0,
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
      std::byte* data = b.memory.data() + static_cast<std::size_t>(posted) * run.bytes;
      REQUIRE(b.net().irecv(b.comm, data, run.bytes, 0, b.registration, false, &request,
                            phandle(to, posted)) == nccl::ResultCode::kSuccess);
      if (request != nullptr) {
        receives.push_back(request);
        ++posted;
      }
    }
    request = nullptr;
    if (sent < run.steps && sends.size() < kUnderWay) {
      std::byte* data = a.memory.data() + static_cast<std::size_t>(sent) * run.bytes;
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
    if (side->registration != nullptr) {
      side->net().dereg_mr(side->comm, side->registration);
    }
    side->memory.assign(messages * run.bytes, std::byte{0xa5});
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
    const bool zero = got == std::byte{0};
    lost[i / run.bytes] += zero ? 1 : 0;
    wrong += !zero && got != sides_[0]->memory[i] ? 1 : 0;
  }
  REQUIRE(wrong == 0);
  return lost;
}

std::size_t total(const std::vector<std::size_t>& lost) {
  return std::accumulate(lost.begin(), lost.end(), std::size_t{0});
}

}  // namespace dlcp::test
