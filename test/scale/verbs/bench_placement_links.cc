// The resources that placement by the card (datapath/verbs/placement) needs in large jobs: queue
// pairs, memory and set-up time of one device by number of peers. A link joins two processes in one
// direction, however many connections they have, so a peer in both directions has two. The cards
// are stand-ins: times are those of DLCP's own code, and the calls to the card are counted.
//
//   bench_placement_links [PEERS...]     default: 1 8 32 64 128 256 512
//
// One JSON line for each number. `placing`: links that have queue pairs; `most_paths` and
// `fewest_paths`: of those. `heap_bytes`: of this process for one device, without the stand-in.
// `card_bytes`: queues of the driver and of the card in mlx5's layout, 64 bytes for each send and
// completion, 16 bytes for each receive.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "datapath/verbs/fake_verbs.h"
#include "datapath/verbs/verbs_datapath.h"

namespace {

std::ptrdiff_t heap_in_use = 0;  // of this single-threaded process, as counted by operator new
bool in_card = false;            // the stand-in's own memory is not counted

void count(void* at, std::ptrdiff_t sign) {
  if (at != nullptr && !in_card)
    heap_in_use += sign * static_cast<std::ptrdiff_t>(malloc_usable_size(at));
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const at = std::malloc(bytes);
  if (at == nullptr) throw std::bad_alloc();
  count(at, 1);
  return at;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
  count(at, -1);
  std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept {
  operator delete(at);
}

namespace {

using namespace dlcp;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPaths = 16;  // DLCP_PATHS; more than a class of a link can have is not used

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "bench_placement_links: {}\n", what);
  std::exit(1);
}

// Counts objects and calls. Receives are not kept, because no packet arrives.
class CountingCard final : public datapath::test::FakeVerbs {
 public:
  struct Totals {
    std::size_t queue_pairs = 0, completion_queues = 0, calls = 0, bytes = 0;
  };
  Totals totals;

  int query_port(ibv_context*, std::uint8_t, ibv_port_attr* attributes) override {
    *attributes = {};
    attributes->active_mtu = IBV_MTU_4096;
    return 0;
  }
  ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) override {
    ++totals.calls;
    ++totals.completion_queues;
    totals.bytes += static_cast<std::size_t>(entries) * 64;
    const Inside inside;
    return FakeVerbs::create_cq(context, entries, channel);
  }
  ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) override {
    ++totals.calls;
    ++totals.queue_pairs;
    totals.bytes += std::size_t{attributes->cap.max_send_wr} * 64 +
                    std::size_t{attributes->cap.max_recv_wr} * 16;
    const Inside inside;
    return FakeVerbs::create_qp(pd, attributes);
  }
  int modify_qp(ibv_qp*, ibv_qp_attr*, int) override {
    ++totals.calls;
    return 0;
  }
  int post_recv(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) override {
    ++totals.calls;
    return 0;
  }
  int destroy_qp(ibv_qp* qp) override {
    const Inside inside;
    return FakeVerbs::destroy_qp(qp);
  }
  int destroy_cq(ibv_cq* cq) override {
    const Inside inside;
    return FakeVerbs::destroy_cq(cq);
  }

 private:
  struct Inside {
    Inside() { in_card = true; }
    ~Inside() { in_card = false; }
  };
};

struct Host {
  explicit Host(const char* ip) {
    datapath::VerbsOptions options;
    options.port.device = "fake";
    options.port.entropy = datapath::Entropy::kFlowLabel;
    options.port.gid.ip = datapath::parse_ip_address(ip).value();
    options.paths = kPaths;
    options.placement.transport = datapath::PlacementTransport::kUc;
    options.placement.permissions = datapath::PermissionKind::kRegion;
    datapath = datapath::VerbsDatapath::open(card, options).value();
    card->totals = {};
  }
  datapath::Placer& placer() { return *datapath->placer(); }

  std::shared_ptr<CountingCard> card = std::make_shared<CountingCard>();
  std::unique_ptr<datapath::VerbsDatapath> datapath;
};

// Both ends of a link. The measured host opens one as the sender and one as the receiver for each
// peer; one other host plays all peers, so that it has as many links.
struct Pair {
  Host own{"10.0.0.1"};
  Host peers{"10.0.0.2"};
  Clock::duration took{0};
  std::ptrdiff_t heap = 0;

  template <class Work>
  auto on_own(Work work) {
    const std::ptrdiff_t before = heap_in_use;
    const auto begin = Clock::now();
    auto result = work(own.placer());
    took += Clock::now() - begin;
    heap += heap_in_use - before;
    return result;
  }
  static void need(const Status& status) {
    if (!status) fail(status.error().message());
  }

  // Returns the number of paths.
  std::size_t open(bool sends) {
    const auto link = on_own([&](datapath::Placer& placer) {
      return placer.open_link(peers.datapath->local_address(), {});
    });
    const auto back = peers.placer().open_link(own.datapath->local_address(), {});
    if (!link || !back) return 0;  // ordinary packets are used
    constexpr auto kClass = TrafficClass::kExact;
    if (sends)
      need(on_own(
          [&](datapath::Placer& placer) { return placer.widen(link.value(), kClass, kPaths); }));
    else
      need(peers.placer().widen(back.value(), kClass, kPaths));
    for (int round = 0; round < 2; ++round) {
      const auto there =
          on_own([&](datapath::Placer& placer) { return placer.introduction(link.value()); });
      need(peers.placer().connect(back.value(), there.view()));
      const auto here = peers.placer().introduction(back.value());
      need(on_own(
          [&](datapath::Placer& placer) { return placer.connect(link.value(), here.view()); }));
    }
    return own.placer().paths(link.value(), kClass).count();
  }
};

void measure(std::size_t peers) {
  Pair pair;
  std::vector<std::size_t> paths;
  for (std::size_t i = 0; i < 2 * peers; ++i)
    if (const std::size_t count = pair.open(i % 2 == 0)) paths.push_back(count);
  const auto [fewest, most] = std::ranges::minmax_element(paths);
  const auto& totals = pair.own.card->totals;
  const double ms = std::chrono::duration<double, std::milli>(pair.took).count();
  fmt::print(
      "{{\"peers\": {}, \"links\": {}, \"placing\": {}, \"most_paths\": {}, \"fewest_paths\": {}, "
      "\"queue_pairs\": {}, \"completion_queues\": {}, \"heap_bytes\": {}, \"card_bytes\": {}, "
      "\"card_calls\": {}, \"ms\": {:.2f}}}\n",
      peers, 2 * peers, paths.size(), *most, *fewest, totals.queue_pairs, totals.completion_queues,
      pair.heap, totals.bytes, totals.calls, ms);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> all = {1, 8, 32, 64, 128, 256, 512};
  if (argc > 1) all.clear();
  for (int i = 1; i < argc; ++i)
    all.push_back(std::clamp<std::size_t>(std::strtoull(argv[i], nullptr, 10), 1, 1 << 20));
  for (const std::size_t peers : all)
    measure(peers);
}
