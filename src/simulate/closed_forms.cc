// Compares parts of the simulator, each run alone, with theory.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "simulate/contest.h"
#include "simulate/load/workloads.h"
#include "simulate/opponents/pias.h"
#include "simulate/opponents/roce/roce.h"
#include "simulate/validation.h"
#include "util/rng.h"

namespace dlcp::simulate {
namespace {

constexpr double kClose = 0.02;
constexpr std::uint32_t kPacketBytes = 4150;

// Records packets that arrive here: number, time and delay.
class Meter final : public Sink {
 public:
  void on_event(Time now, PacketPtr packet) override {
    ++packets;
    sum_ns += static_cast<double>((now - packet->sent_at).count());
    last = now;
  }
  std::uint64_t packets = 0;
  double sum_ns = 0;
  Time last{};
};

PacketPtr packet_of(PacketPool& pool, std::uint32_t bytes) {
  PacketPtr packet = pool.take();
  packet->wire_bytes = bytes;
  return packet;
}

ClassPlan deep_plan() {
  ClassPlan plan;
  for (QueuePlan& queue : plan.queues)
    queue.limit_bytes = std::size_t{1} << 40;
  return plan;
}

Check store_and_forward(const char* name, const FabricPlan& plan, double links) {
  PacketPool pool;
  Events events;
  Fabric fabric(events, plan);
  Meter meter;
  const auto last = static_cast<HostIndex>(fabric.hosts() - 1);
  fabric.attach(last, meter);
  PacketPtr packet = packet_of(pool, kPacketBytes);
  packet->destination = last;
  fabric.card(0).enqueue(events.now(), std::move(packet));
  events.run_until(time_from_ns(1'000'000));
  const double each =
      kPacketBytes * 8 / plan.host.gbit_per_s + static_cast<double>(plan.host.delay.count());
  return {fmt::format("store and forward, {}", name),
          "ns",
          links * each,
          meter.sum_ns,
          0,
          "links x (bits / rate + delay)"};
}

// Poisson arrivals at one port: the mean wait of M/D/1 is load / (2 (1 - load)) services.
Check waiting_line(double load, std::uint64_t packets) {
  PacketPool pool;
  Events events;
  Meter meter;
  const ClassPlan plan = deep_plan();
  const Wire wire{8, Duration(0)};  // one byte per ns
  Port port(events, meter, std::make_unique<ClassQueues>(plan, nullptr, 1), wire, 1);
  constexpr double kService = 1000;
  Rng rng(7);
  double at = 0;
  for (std::uint64_t i = 0; i < packets; ++i) {
    at += -std::log(1 - rng.unit()) * kService / load;
    const Time now = time_from_ns(static_cast<std::int64_t>(at));
    events.run_until(now);
    PacketPtr packet = packet_of(pool, static_cast<std::uint32_t>(kService));
    packet->sent_at = now;
    port.enqueue(now, std::move(packet));
  }
  events.run_until(kNever);
  const double wait = meter.sum_ns / static_cast<double>(meter.packets) - kService;
  return {fmt::format("M/D/1, mean wait at load {}", load),
          "ns",
          kService * load / (2 * (1 - load)),
          wait,
          kClose,
          "Pollaczek and Khinchine"};
}

// Two classes of Poisson arrivals, the first strictly before the second: Cobham's mean waits.
std::array<Check, 2> strict_levels(double load) {
  PacketPool pool;
  Events events;
  const Wire wire{8, Duration(0)};  // one byte per ns
  struct Levels final : Sink {
    void on_event(Time now, PacketPtr packet) override {
      sum_ns[packet->level] += static_cast<double>((now - packet->sent_at).count());
      packets[packet->level] += 1;
    }
    std::array<double, 2> sum_ns{};
    std::array<double, 2> packets{};
  } meter;
  constexpr std::size_t kDeep = std::size_t{1} << 40;
  Port port(events, meter, std::make_unique<StrictLevels>(kDeep, kDeep), wire, 1);
  constexpr double kService = 1000;
  Rng rng(11);
  double at = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    at += -std::log(1 - rng.unit()) * kService / load;
    const Time now = time_from_ns(static_cast<std::int64_t>(at));
    events.run_until(now);
    PacketPtr packet = packet_of(pool, static_cast<std::uint32_t>(kService));
    packet->sent_at = now;
    packet->level = rng.chance(0.5) ? 1 : 0;
    port.enqueue(now, std::move(packet));
  }
  events.run_until(kNever);
  const double residual = load * kService / 2;
  const double first = residual / (1 - load / 2);
  std::array<Check, 2> checks;
  for (std::size_t level = 0; level < checks.size(); ++level)
    checks[level] = {fmt::format("PIAS, level {}, load {}", level, load),
                     "ns",
                     level == 0 ? first : first / (1 - load),
                     meter.sum_ns[level] / meter.packets[level] - kService,
                     kClose,
                     "Cobham: strict priorities"};
  return checks;
}

Check round_robin_share() {
  PacketPool pool;
  ClassPlan plan = deep_plan();
  plan.queues[1].weight = 4;
  plan.queues[2].weight = 2;
  plan.queues[3].weight = 1;
  ClassQueues queues(plan, nullptr, 1);
  const std::array<SwitchQueue, 3> all = {SwitchQueue::kExact, SwitchQueue::kUrgent,
                                          SwitchQueue::kBulk};
  for (int i = 0; i < 3000; ++i) {
    for (const SwitchQueue queue : all) {
      PacketPtr packet = packet_of(pool, kPacketBytes);
      packet->queue = queue;
      queues.admit(std::move(packet));
    }
  }
  for (int i = 0; i < 4000; ++i)
    queues.next();
  const auto first = static_cast<double>(queues.served_bytes(SwitchQueue::kExact));
  const double total = 4000.0 * kPacketBytes;
  return {"share of weight 4 among 4, 2 and 1",
          "",
          4.0 / 7,
          first / total,
          kClose,
          "deficit round robin"};
}

// n queues that always have packets to accept each hold alpha / (1 + n alpha) of the buffer.
Check dynamic_threshold(double alpha, std::size_t count) {
  PacketPool pool;
  ClassPlan plan = deep_plan();
  plan.dynamic_alpha = alpha;
  SharedBuffer buffer;
  buffer.total_bytes = 8'000'000;
  std::vector<std::unique_ptr<ClassQueues>> ports;
  for (std::size_t i = 0; i < count; ++i)
    ports.push_back(std::make_unique<ClassQueues>(plan, &buffer, i));
  for (int round = 0; round < 9000; ++round)
    for (auto& port : ports)
      port->admit(packet_of(pool, 1000));
  const double n = static_cast<double>(count);
  return {fmt::format("threshold, alpha {}, {} queues", alpha, count),
          "bytes",
          alpha / (1 + n * alpha) * static_cast<double>(buffer.total_bytes),
          static_cast<double>(ports.back()->waiting_bytes()),
          kClose,
          "Choudhury and Hahne: alpha / (1 + n alpha)"};
}

Check marking_slope() {
  PacketPool pool;
  ClassPlan plan = deep_plan();
  plan.queues[1].mark = {100'000, 300'000, 0.8};
  ClassQueues queues(plan, nullptr, 3);
  const auto admit = [&] {
    PacketPtr packet = packet_of(pool, 1000);
    packet->ecn = Ecn::kEct0;
    queues.admit(std::move(packet));
  };
  while (queues.waiting_bytes() < 200'000)
    admit();
  const auto before = queues.counters().marked;
  constexpr int kTries = 40'000;
  for (int i = 0; i < kTries; ++i) {
    admit();
    queues.next();
  }
  const auto marked = static_cast<double>(queues.counters().marked - before);
  return {"marks at half of a slope to 80%", "", 0.4, marked / kTries, kClose, "RED"};
}

// Each of m flows of a leaf uses one of k uplinks by its hash: (1 - 1/k)^m of the uplinks stay
// idle.
Check balls_in_bins() {
  double expected = 0;
  double idle = 0;
  for (std::uint64_t seed = 1; seed <= 96; ++seed) {
    PacketPool pool;
    Events events;
    FabricPlan plan = leaf_spine(16, 16, 8, Wire{}, Wire{});
    plan.classes = deep_plan();
    plan.seed = seed;
    Fabric fabric(events, plan);
    for (HostIndex from = 0; from < fabric.hosts(); ++from) {
      PacketPtr packet = packet_of(pool, kPacketBytes);
      packet->source = from;
      packet->destination = static_cast<HostIndex>((from + 16) % fabric.hosts());
      fabric.card(from).enqueue(events.now(), std::move(packet));
    }
    events.run_until(time_from_ns(10'000'000));
    for (const Fabric::Link& link : fabric.links()) {
      if (link.tier != Fabric::Tier::kLeafUp) continue;
      expected += std::pow(1 - 1.0 / 8, 16);
      idle += link.port->counters().packets == 0 ? 1 : 0;
    }
  }
  return {"uplinks that hashing leaves idle", "", expected, idle, kClose,
          "balls in bins: (1 - 1/k)^m"};
}

Check ring_time() {
  Setting setting;
  setting.fabric = single_switch(16, Wire{});
  setting.contender = Contender::kPfabric;
  std::vector<HostIndex> ring;
  for (HostIndex i = 0; i < 16; ++i)
    ring.push_back(i);
  constexpr double kPackets = 256;  // of a chunk
  constexpr double kPayload = 4086;
  const Outcome outcome =
      run(setting, ring_all_reduce(ring, static_cast<std::uint64_t>(16 * kPackets * kPayload)));
  const double packet = kPacketBytes * 8 / setting.fabric.host.gbit_per_s;
  const double stage = kPackets * packet + packet + 2.0 * 1000;
  return {"ring all-reduce of 16 hosts",
          "ns",
          30 * stage,
          static_cast<double>(outcome.took.count()),
          kClose,
          "2 (N - 1) (S / N B + hop)"};
}

// N senders keep the receiver's link busy: its rate is a lower bound on the time.
Check incast_time(Contender contender, std::size_t senders, double mega_bytes) {
  Setting setting;
  setting.fabric = single_switch(senders + 1, Wire{});
  setting.contender = contender;
  const auto bytes = static_cast<std::uint64_t>(mega_bytes * 4086 * 250);
  const Outcome outcome = run(setting, incast(senders + 1, senders, bytes, 1));
  const double packet = kPacketBytes * 8 / setting.fabric.host.gbit_per_s;
  const double all = static_cast<double>(senders) * mega_bytes * 250 * packet;
  return {fmt::format("{} senders to one, {}", senders, name_of(contender)),
          "ns",
          all + packet + 2.0 * 1000,
          static_cast<double>(outcome.took.count()),
          kClose,
          "bytes / rate"};
}

// With pauses as the only limit, no packet of the senders is lost, the receiver's link is never
// idle, and each sender's queue reaches the pause threshold plus the bytes that arrive until the
// pause takes effect.
std::array<Check, 2> paused_incast(std::size_t senders) {
  PacketPool pool;
  RoceConfig config = RoceTransport::defaults(Wire{}.gbit_per_s);
  config.slows_down = false;
  FabricPlan plan = single_switch(senders + 1, Wire{});
  plan.classes = RoceTransport::switches(config);
  plan.flow_control = config.pause;
  const std::uint64_t packets = 1000;
  const std::uint64_t payload = config.packet_bytes - config.header_bytes;
  const Workload workload = incast(senders + 1, senders, packets * payload, 1);
  std::unique_ptr<Job> job;
  Events events;
  Fabric fabric(events, plan);
  job = std::make_unique<Job>(events, workload);
  RoceTransport transport(fabric, pool, *job, config);
  job->run(transport, 1s);
  const double n = static_cast<double>(senders);
  const double packet = config.packet_bytes * 8 / plan.host.gbit_per_s;
  const double late = (2.0 * 1000 + packet) * plan.host.gbit_per_s / 8 * (1 - 1 / n);
  return {{{fmt::format("{} senders to one, with pauses", senders), "ns",
            n * static_cast<double>(packets) * packet + packet + 2.0 * 1000,
            static_cast<double>(job->took().count()), kClose, "bytes / rate"},
           {fmt::format("queue of {} paused senders", senders), "bytes",
            n * (static_cast<double>(config.pause.off_bytes) + config.packet_bytes / 2.0 + late),
            static_cast<double>(fabric.sum().deepest_bytes), kClose,
            "n (threshold + rate x (2 delay + packet) (1 - 1/n))"}}};
}

// The first report halves the rate, and each period recovers half of the difference.
Check dcqcn_recovery() {
  const DcqcnConfig config;
  DcqcnRate rate(config, 100);
  rate.on_marks(time_from_ns(1000));
  const double measured = rate.rate(time_from_ns(1000) + 4 * config.period);
  return {"DCQCN, after 4 periods",
          "Gbit/s",
          100 * (1 - 0.5 / 16),
          measured,
          1e-9,
          "fast recovery: (rate + target) / 2"};
}

}  // namespace

std::vector<Check> closed_forms() {
  std::vector<Check> checks;
  checks.push_back(store_and_forward("2 links", single_switch(2, Wire{}), 2));
  checks.push_back(store_and_forward("4 links", leaf_spine(2, 2, 2, Wire{}, Wire{}), 4));
  checks.push_back(store_and_forward("6 links", fat_tree(4, Wire{}), 6));
  checks.push_back(waiting_line(0.5, 200'000));
  checks.push_back(waiting_line(0.8, 400'000));
  checks.push_back(waiting_line(0.95, 1'000'000));
  for (const Check& check : strict_levels(0.8))
    checks.push_back(check);
  checks.push_back(round_robin_share());
  checks.push_back(dynamic_threshold(1, 1));
  checks.push_back(dynamic_threshold(1, 7));
  checks.push_back(dynamic_threshold(8, 4));
  checks.push_back(marking_slope());
  checks.push_back(balls_in_bins());
  checks.push_back(ring_time());
  checks.push_back(incast_time(Contender::kNscc, 8, 4));
  checks.push_back(incast_time(Contender::kDctcp, 2, 20));
  checks.push_back(incast_time(Contender::kPias, 2, 20));
  checks.push_back(incast_time(Contender::kNdp, 15, 4));
  for (const Check& check : paused_incast(8))
    checks.push_back(check);
  checks.push_back(dcqcn_recovery());
  return checks;
}

}  // namespace dlcp::simulate
