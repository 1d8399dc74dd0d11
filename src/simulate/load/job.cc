#include "simulate/load/job.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "util/check.h"

namespace dlcp::simulate {

Job::Job(Events& events, const Workload& workload)
    : events_(events),
      workload_(workload),
      finishes_(workload.size()),
      waits_for_(workload.size()),
      frees_(workload.size()),
      undelivered_(workload.size()),
      unacknowledged_(workload.size()) {
  for (TransferId id = 0; id < workload_.size(); ++id) {
    finishes_[id].neighbour = workload_[id].transfer.neighbour;
    waits_for_[id] = static_cast<std::uint32_t>(workload_[id].after.size());
    for (const TransferId before : workload_[id].after)
      frees_[before].push_back(id);
  }
}

bool Job::run(Transport& transport, Duration limit, Transport* neighbours) {
  transport_ = &transport;
  neighbours_ = neighbours;
  std::map<Transport*, std::set<std::pair<HostIndex, HostIndex>>> pairs;
  for (const Step& step : workload_)
    pairs[&mover(step.transfer)].emplace(step.transfer.from, step.transfer.to);
  for (Transport* each : {&transport, neighbours}) {
    const auto& own = pairs[each];
    const std::vector<std::pair<HostIndex, HostIndex>> list(own.begin(), own.end());
    if (each != nullptr) each->open(list);
  }
  for (Transport* each : {&transport, neighbours}) {
    std::vector<Transfer> list;
    for (const Step& step : workload_)
      if (&mover(step.transfer) == each) list.push_back(step.transfer);
    if (each != nullptr) each->announce(events_.now(), list);
  }
  began_ = delivered_at_ = acknowledged_at_ = events_.now();
  if (at_start) at_start(began_);
  for (TransferId id = 0; id < workload_.size(); ++id)
    if (waits_for_[id] == 0) schedule(began_ + workload_[id].wait, id);
  while (unacknowledged_ > 0)
    if (!events_.run_next(began_ + limit)) return false;
  return true;
}

void Job::schedule(Time at, TransferId id) {
  PacketPtr token = tokens_.take();
  token->flow = id;
  events_.schedule(std::max(at, began_ + workload_[id].not_before), starter_, std::move(token));
}

void Job::begin(Time now, TransferId id) {
  finishes_[id].began = now;
  mover(workload_[id].transfer).begin(now, id, workload_[id].transfer);
}

void Job::on_delivered(Time now, TransferId id) {
  check(finishes_[id].delivered == kNever, "a transfer arrives once");
  finishes_[id].delivered = now;
  if (!finishes_[id].neighbour) delivered_at_ = now;
  --undelivered_;
  for (const TransferId next : frees_[id])
    if (--waits_for_[next] == 0) schedule(now + workload_[next].wait, next);
}

void Job::on_acknowledged(Time now, TransferId id) {
  check(finishes_[id].acknowledged == kNever, "a transfer is acknowledged once");
  finishes_[id].acknowledged = now;
  if (!finishes_[id].neighbour) acknowledged_at_ = now;
  --unacknowledged_;
}

}  // namespace dlcp::simulate
