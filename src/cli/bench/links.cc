#include "cli/bench/links.h"

#include <sched.h>

#include <array>
#include <cstring>
#include <set>

#include "synth/schedule.h"

namespace dlcp::cli {
namespace {

void add_pair(std::vector<Wire>& wires, int source, int destination, int channels) {
  for (int c = 0; c < channels; c++)
    wires.push_back({source, destination, c});
}

void add_planned(std::vector<Wire>& wires, const synth::Schedule& schedule) {
  std::set<std::pair<int, int>> pairs;
  for (const synth::Message& message : schedule.messages)
    pairs.insert({message.from, message.to});
  for (const auto& [from, to] : pairs)
    add_pair(wires, from, to, 1);
}

}  // namespace

std::vector<Wire> wires_of(const BenchCase& bench_case) {
  const int ranks = bench_case.ranks, channels = bench_case.channels;
  std::vector<Wire> wires;
  switch (bench_case.mode) {
    case Mode::kBandwidth:
    case Mode::kAbort:
      for (int r = 0; r + 1 < ranks; r += 2)
        add_pair(wires, r, r + 1, channels);
      break;
    case Mode::kLatency:
      add_pair(wires, 0, 1, 1);
      add_pair(wires, 1, 0, 1);
      break;
    case Mode::kAllReduce:
      if (by_collnet(bench_case.algorithm)) break;  // the plugin makes its own connections
      [[fallthrough]];
    case Mode::kRing:
      for (int r = 0; r < ranks; r++)
        add_pair(wires, r, (r + 1) % ranks, channels);
      break;
    case Mode::kIncast:
      for (int r = 1; r < ranks; r++)
        add_pair(wires, r, 0, channels);
      break;
    case Mode::kAllToAll:
      for (int r = 0; r < ranks; r++)
        for (int d = 1; d < ranks; d++)
          add_pair(wires, r, (r + d) % ranks, channels);
      break;
    case Mode::kPlan:
      add_planned(wires, *bench_case.schedule);
      break;
  }
  return wires;
}

int Links::device_of(const Wire& wire) const {
  return (first_device_ + wire.channel) % devices_;
}

std::string Links::listen(const std::vector<Wire>& wires) {
  std::string handles;
  std::vector<std::size_t> ordinals(static_cast<std::size_t>(control_.ranks()));
  for (std::size_t i = 0; i < wires.size(); i++) {
    const Wire& wire = wires[i];
    const std::size_t ordinal = ordinals[static_cast<std::size_t>(wire.destination)]++;
    if (wire.source != control_.rank() && wire.destination != control_.rank()) continue;
    links_.push_back({wire, i, ordinal});
    listens_.push_back(nullptr);
    if (wire.destination != control_.rank()) continue;
    std::array<char, nccl::kHandleBytes> handle{};
    require(net_.listen(device_of(wire), handle.data(), &listens_.back()), "listen");
    handles.append(handle.data(), handle.size());
  }
  return handles;
}

void Links::connect(const std::vector<std::string>& handles) {
  // NCCL passes the same memory to each call, so that a plugin may keep state in the handle.
  std::vector<std::array<char, nccl::kHandleBytes>> mine(links_.size());
  for (std::size_t i = 0; i < links_.size(); i++) {
    const Link& link = links_[i];
    if (!link.sends(control_.rank())) continue;
    const std::string& theirs = handles.at(static_cast<std::size_t>(link.wire.destination));
    if (theirs.size() < (link.ordinal + 1) * nccl::kHandleBytes)
      throw BenchError(ExitCode::kTransport, "a rank listened on fewer connections than agreed");
    std::memcpy(mine[i].data(), theirs.data() + link.ordinal * nccl::kHandleBytes,
                nccl::kHandleBytes);
  }
  for (std::size_t left = links_.size(); left > 0;) {
    for (std::size_t i = 0; i < links_.size(); i++) {
      Link& link = links_[i];
      if (link.comm != nullptr) continue;
      if (link.sends(control_.rank()))
        require(net_.connect(device_of(link.wire), mine[i].data(), &link.comm), "connect");
      else
        require(net_.accept(listens_[i], &link.comm), "accept");
      if (link.comm == nullptr) continue;
      left--;
      control_.shared().rank(control_.rank()).activity++;
    }
    control_.alive(0);
    if (left > 0) sched_yield();
  }
}

void Links::open(const BenchCase& bench_case) {
  require(net_.devices(devices_), "devices");
  if (devices_ < 1)
    throw BenchError(ExitCode::kTransport,
                     "the plugin finds no device; see NCCL_SOCKET_IFNAME or the plugin's own log");
  first_device_ = bench_case.device_by_rank ? control_.rank() : 0;
  const auto wires = wires_of(bench_case);
  connect(control_.exchange(listen(wires)));
  for (void*& listen : listens_) {
    if (listen != nullptr) require(net_.close_listen(listen), "closeListen");
    listen = nullptr;
  }
}

void Links::close() {
  for (Link& link : links_) {
    if (link.comm == nullptr) continue;
    void* comm = link.comm;
    link.comm = nullptr;
    if (link.sends(control_.rank()))
      require(net_.close_send(comm), "closeSend");
    else
      require(net_.close_recv(comm), "closeRecv");
  }
  for (void*& listen : listens_) {
    if (listen != nullptr) require(net_.close_listen(listen), "closeListen");
    listen = nullptr;
  }
}

Link* Links::find(int source, int destination, int channel) {
  for (Link& link : links_)
    if (link.wire.source == source && link.wire.destination == destination &&
        link.wire.channel == channel)
      return &link;
  return nullptr;
}

}  // namespace dlcp::cli
