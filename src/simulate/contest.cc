#include "simulate/contest.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "simulate/opponents/dctcp.h"
#include "simulate/opponents/ndp.h"
#include "simulate/opponents/pfabric.h"
#include "simulate/opponents/pias.h"
#include "simulate/opponents/roce/roce.h"
#include "simulate/protocol/core_transport.h"

namespace dlcp::simulate {
namespace {

constexpr std::array<std::pair<Contender, std::string_view>, 7> kNames = {{
    {Contender::kDlcp, "dlcp"},
    {Contender::kNscc, "nscc"},
    {Contender::kDctcp, "dctcp"},
    {Contender::kPfabric, "pfabric"},
    {Contender::kPias, "pias"},
    {Contender::kNdp, "ndp"},
    {Contender::kRoce, "roce"},
}};

// Relative to 2 + 2 + 1 for DLCP's weighted queues: three eighths of a link for other traffic.
constexpr std::uint32_t kOthersWeight = 3;

// Applies the faults of a setting, as events.
class Breaker final : public Sink {
 public:
  Breaker(Events& events, Fabric& fabric, const Setting& setting)
      : events_(events), fabric_(fabric), setting_(setting) {}

  void begin(Time now) {
    for (std::uint32_t i = 0; i < setting_.faults.size(); ++i)
      schedule(now + setting_.faults[i].after, i, kStrike);
    if (!setting_.storm) return;
    schedule(now + setting_.storm->after, 0, kStorm);
    schedule(now + setting_.storm->after + setting_.storm->lasts, 0, kCalm);
  }
  void on_event(Time now, PacketPtr token) override {
    const auto what = static_cast<What>(token->sequence);
    if (what == kStorm || what == kCalm) {
      fabric_.to_host(setting_.storm->host).set_paused(what == kStorm);
      return;
    }
    const CableFault& fault = setting_.faults[token->flow];
    if (what == kStrike) plan_on(now, token->flow);
    for (std::size_t i = 0; i < fault.count; ++i) {
      const std::size_t link = fabric_.find(fault.tier, fault.first + i);
      if (link >= fabric_.links().size()) return;
      befall(what, link, fault);
      if (fault.both_ways && what != kWithdraw) befall(what, link ^ 1, fault);
    }
  }

 private:
  enum What : std::uint32_t { kStrike, kWithdraw, kHeal, kStorm, kCalm };

  // Schedules the events that follow a fault at `now`.
  void plan_on(Time now, std::uint32_t index) {
    const CableFault& fault = setting_.faults[index];
    const bool passes = fault.lasts > Duration::zero();
    if (fault.reconverges && (!passes || *fault.reconverges < fault.lasts))
      schedule(now + *fault.reconverges, index, kWithdraw);
    if (!passes) return;
    schedule(now + fault.lasts, index, kHeal);
    if (fault.every > fault.lasts) schedule(now + fault.every, index, kStrike);
  }
  void befall(What what, std::size_t link, const CableFault& fault) {
    if (what == kWithdraw) return fabric_.withdraw(link);
    if (what == kHeal) fabric_.restore(link);
    Port& port = fabric_.link(link);
    if (fault.rate <= 0) {
      port.set_down(what == kStrike);
    } else {
      Wire wire = port.wire();
      wire.gbit_per_s *= what == kStrike ? fault.rate : 1 / fault.rate;
      port.set_wire(wire);
      port.set_loss(what == kStrike ? fault.loss : setting_.loss);
    }
  }
  void schedule(Time at, std::uint32_t fault, What what) {
    PacketPtr token = tokens_.take();
    token->flow = fault;
    token->sequence = what;
    events_.schedule(at, *this, std::move(token));
  }

  PacketPool tokens_;
  Events& events_;
  Fabric& fabric_;
  const Setting& setting_;
};

// The switch settings of a contender, and its construction on the fabric.
class Corner {
 public:
  explicit Corner(const Setting& setting) : setting_(setting) {
    const FabricPlan& fabric = setting.fabric;
    const double rate = fabric.host.gbit_per_s;
    const WindowConfig usual;
    const Duration base = base_round_trip(fabric, usual.packet_bytes, usual.answer_bytes);
    nscc_.base_rtt = base;
    nscc_.window = NsccTransport::defaults(base);
    nscc_.spraying = setting.spraying;
    pfabric_ = PfabricTransport::defaults(rate, base);
    ndp_ = NdpTransport::defaults(rate, base);
    for (WindowConfig* config : {&nscc_.window, &pfabric_.window, &dctcp_.window, &ndp_.window}) {
      config->seed = setting.seed;
      if (setting.timeout_min > Duration::zero()) config->timeout_min = setting.timeout_min;
    }
    if (setting.paths > 0) {
      nscc_.window.paths = static_cast<std::uint16_t>(setting.paths);
      ndp_.window.paths = nscc_.window.paths;
      core_.paths = setting.paths;
    }
    pias_.dctcp = dctcp_;
    roce_ = RoceTransport::defaults(rate);
    if (setting.timeout_min > Duration::zero()) roce_.timeout = setting.timeout_min;
    core_.seed = setting.seed;
    core_.host = setting.hosts;
    core_.packet_cost = setting.packet_cost;
    core_.knee = setting.knee;
    core_.blind_marks = setting.blind_marks;
  }

  FabricPlan fabric() const {
    FabricPlan plan = setting_.fabric;
    plan.seed = setting_.seed;
    const double rate = plan.host.gbit_per_s;
    switch (setting_.contender) {
      case Contender::kDlcp:
        plan.classes = CoreTransport::switches(core_, plan);
        plan.classes.queues[static_cast<std::size_t>(kOthersQueue)] =
            DctcpTransport::switches(dctcp_).queues[static_cast<std::size_t>(kOthersQueue)];
        plan.classes.queues[static_cast<std::size_t>(kOthersQueue)].weight = kOthersWeight;
        plan.switch_buffer_bytes = setting_.switch_buffer_bytes;
        break;
      case Contender::kNscc:
        plan.classes = NsccTransport::switches(nscc_, rate);
        break;
      case Contender::kDctcp:
        plan.classes = DctcpTransport::switches(dctcp_);
        plan.switch_buffer_bytes = setting_.switch_buffer_bytes;
        break;
      case Contender::kPfabric:
        plan.make_discipline = [limit = pfabric_.queue_bytes]() -> std::unique_ptr<Discipline> {
          return std::make_unique<LeastLeftFirst>(limit);
        };
        break;
      case Contender::kPias:
        plan.make_discipline = [config = pias_] { return PiasTransport::discipline(config); };
        break;
      case Contender::kNdp:
        plan.classes = NdpTransport::switches(ndp_);
        break;
      case Contender::kRoce:
        plan.classes = RoceTransport::switches(roce_);
        plan.flow_control = roce_.pause;
        break;
    }
    if (setting_.queue_bytes > 0) {
      plan.flow_control.reset();
      plan.make_discipline = [limit = setting_.queue_bytes]() -> std::unique_ptr<Discipline> {
        return std::make_unique<StrictLevels>(limit,
                                              limit);  // one level: first in, first out
      };
    }
    return plan;
  }

  // Hosts that do not use the job's transport; their packets have a separate queue.
  std::unique_ptr<Transport> neighbours(Fabric& fabric, PacketPool& pool,
                                        TransferListener& listener) const {
    if (!setting_.dctcp_neighbours) return nullptr;
    DctcpConfig config = dctcp_;
    config.window.queue = kOthersQueue;
    config.window.answers_first = false;
    return std::make_unique<DctcpTransport>(fabric, pool, listener, config);
  }

  std::unique_ptr<Transport> transport(Fabric& fabric, PacketPool& pool,
                                       TransferListener& listener) const {
    switch (setting_.contender) {
      case Contender::kNscc:
        return std::make_unique<NsccTransport>(fabric, pool, listener, nscc_);
      case Contender::kDctcp:
        return std::make_unique<DctcpTransport>(fabric, pool, listener, dctcp_);
      case Contender::kPfabric:
        return std::make_unique<PfabricTransport>(fabric, pool, listener, pfabric_);
      case Contender::kPias:
        return std::make_unique<PiasTransport>(fabric, pool, listener, pias_);
      case Contender::kNdp:
        return std::make_unique<NdpTransport>(fabric, pool, listener, ndp_);
      case Contender::kRoce:
        return std::make_unique<RoceTransport>(fabric, pool, listener, roce_);
      case Contender::kDlcp:
        break;
    }
    return std::make_unique<CoreTransport>(fabric, pool, listener, core_);
  }

 private:
  const Setting& setting_;
  NsccConfig nscc_;
  DctcpConfig dctcp_;
  PfabricConfig pfabric_;
  PiasConfig pias_;
  NdpConfig ndp_;
  RoceConfig roce_;
  CoreConfig core_;
};

}  // namespace

std::string_view name_of(Contender contender) {
  for (const auto& [each, name] : kNames)
    if (each == contender) return name;
  return "?";
}

std::optional<Contender> contender_of(std::string_view name) {
  for (const auto& [each, known] : kNames)
    if (known == name) return each;
  return std::nullopt;
}

std::string contender_names() {
  std::string names;
  for (const auto& [each, name] : kNames)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Outcome run(const Setting& setting, const Workload& workload) {
  PacketPool pool;
  const Corner corner(setting);
  // Events hold packets of the pool and of the job, so they are destroyed first.
  std::unique_ptr<Job> job;
  std::unique_ptr<Breaker> breaker;
  Events events;
  Fabric fabric(events, corner.fabric());
  for (std::size_t i = 0; setting.loss > 0 && i < fabric.links().size(); ++i)
    fabric.link(i).set_loss(setting.loss);
  for (HostIndex i = 0; setting.loss_to_hosts > 0 && i < fabric.hosts(); ++i)
    fabric.to_host(i).set_loss(setting.loss_to_hosts);
  job = std::make_unique<Job>(events, workload);
  breaker = std::make_unique<Breaker>(events, fabric, setting);
  job->at_start = [&](Time now) { breaker->begin(now); };
  const auto transport = corner.transport(fabric, pool, *job);
  Outcome outcome;
  const auto neighbours = corner.neighbours(fabric, pool, *job);
  outcome.ended = job->run(*transport, setting.limit, neighbours.get());
  outcome.took = job->took();
  outcome.took_acknowledged = job->took_acknowledged();
  outcome.finishes = job->finishes();
  outcome.transport = transport->counters();
  outcome.queues = fabric.sum();
  outcome.imbalance = fabric.imbalance(Fabric::Tier::kLeafUp);
  outcome.link_packets = fabric.sum_wires().packets;
  outcome.pauses = fabric.sum_wires().pauses;
  outcome.events = events.scheduled();
  for (const Finish& finish : outcome.finishes) {
    outcome.hash =
        datapath::sim::mix(outcome.hash, static_cast<std::uint64_t>(ns_of(finish.delivered)));
  }
  return outcome;
}

}  // namespace dlcp::simulate
