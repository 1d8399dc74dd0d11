#include "datapath/verbs/placement/verbs_placer.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "datapath/address/device_address.h"

namespace dlcp::datapath {
namespace {

QueueOptions queue_options(const VerbsPlacer::Options& options, const VerbsCard& card) {
  return {options.ability.transport, std::bit_floor(std::min(options.sends, card.requests_max)),
          std::min(options.receives, card.requests_max)};
}

}  // namespace

// Joins successive packets to runs.
class VerbsPlacer::RunWriter {
 public:
  RunWriter(std::span<PlacedRun> out, Time now) : out_(out), now_(now) {}
  std::size_t room() const { return out_.size() - count_; }
  std::size_t count() const { return count_; }

  void add(const LinkPath& way, std::uint32_t immediate, std::uint32_t bytes) {
    const bool follows = immediate == expected_ && &way == way_ &&
                         (immediate & (PlacedIndex::kSegmentPacketsMax - 1)) != 0;
    if (!follows) {
      out_[count_++] = {way, PlacedIndex::unpack(immediate), 0, 0, now_};
      way_ = &way;
    }
    expected_ = immediate + 1;
    ++out_[count_ - 1].packets;
    out_[count_ - 1].bytes += bytes;
  }

 private:
  const std::span<PlacedRun> out_;
  const Time now_;
  std::size_t count_ = 0;
  const LinkPath* way_ = nullptr;  // of the last run
  std::uint32_t expected_ = 0;
};

VerbsPlacer::VerbsPlacer(VerbsCard& card, MemoryRegions& registered, Options options)
    : card_(card),
      registered_(registered),
      options_(std::move(options)),
      queues_(card, queue_options(options_, card), options_.queues_max, counters_),
      receives_(*card.verbs),
      chain_(*card.verbs, counters_),
      links_(card, queues_, receives_, options_.marks) {}

Result<std::unique_ptr<VerbsPlacer>> VerbsPlacer::open(VerbsCard& card, MemoryRegions& registered,
                                                       Options options) {
  std::unique_ptr<VerbsPlacer> placer(new VerbsPlacer(card, registered, std::move(options)));
  auto permissions = DevicePermissions::open(
      card, registered, placer->options_.ability,
      std::min<std::size_t>(placer->options_.windows_max, card.windows_max), placer->counters_);
  if (!permissions) return permissions.error();
  placer->permissions_ = std::move(permissions).value();
  return placer;
}

Result<LinkId> VerbsPlacer::open_link(const wire::EndpointAddress& peer, Duration round_trip) {
  const auto address = decode_device_address(peer);
  if (!address || address->ip.family != card_.port.gid.ip.family) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("placed packets of {} cannot reach {}", to_string(card_.port),
                             address ? to_string(*address) : "an address that is not RoCE"),
                 "data of this connection is sent in packets that are copied"};
  }
  return links_.open(address->ip, round_trip);
}

Status VerbsPlacer::widen(LinkId link, TrafficClass traffic_class, std::size_t paths) {
  return links_.widen(link, traffic_class, paths);
}

Introduction VerbsPlacer::introduction(LinkId link) const {
  return links_.introduction(link);
}

std::uint32_t VerbsPlacer::introduction_version(LinkId link) const {
  const auto* const found = links_.find(link);
  return found != nullptr ? found->version : 0;
}

Status VerbsPlacer::connect(LinkId link, std::span<const std::byte> introduction) {
  const Status connected = links_.connect(link, introduction);
  is_any_broken_ = queues_.needs_repair();  // receives of a new queue may have been refused
  if (!connected) ++counters_.placement_links_failed;
  return connected;
}

wire::LinkPaths VerbsPlacer::paths(LinkId link, TrafficClass traffic_class) const {
  return links_.paths(link, traffic_class);
}

LinkLimits VerbsPlacer::link_limits(LinkId link) const {
  const auto* const found = links_.find(link);
  return found != nullptr ? found->limits : LinkLimits{};
}

std::uint32_t VerbsPlacer::failures(LinkId link, TrafficClass traffic_class,
                                    wire::PathIndex path) const {
  return links_.failures(link, traffic_class, path);
}

// The queues go first: then the peer has no way to write, even if the card refuses to revoke.
void VerbsPlacer::close_link(LinkId link) {
  links_.close(link);
  permissions_->revoke_link(link);
}

PermissionId VerbsPlacer::permit(LinkId link, std::span<std::byte> memory) {
  const auto id = static_cast<PermissionId>(++last_permission_);
  permissions_->permit(id, link, memory);
  return id;
}

void VerbsPlacer::revoke(PermissionId id) {
  permissions_->revoke(id);
}

bool VerbsPlacer::awaits_poll() const {
  return !is_stopped_ &&
         (permissions_->awaits_poll() || (flushes_ != nullptr && flushes_->has_unfinished()) ||
          (writes_ != nullptr && writes_->has_unfinished()));
}

std::size_t VerbsPlacer::poll_permissions(Time now, std::span<PermissionEvent> out) {
  return permissions_->poll(now, out);
}

std::optional<Error> VerbsPlacer::failure() const {
  const bool reads = flushes_ == nullptr || !flushes_->is_dead();
  const bool writes = writes_ == nullptr || !writes_->is_dead();
  if (reads && writes) return std::nullopt;
  return Error{ErrorCode::kSystem,
               fmt::format("the RDMA device {} cannot {} GPU memory, which it has registered: all "
                           "attempts have failed",
                           to_string(card_.port), writes ? "read" : "write received data to"),
               "see the kernel's log, or set NCCL_NET_GDR_LEVEL=LOC on all ranks, so that NCCL "
               "copies through host memory"};
}

Status VerbsPlacer::register_gpu_memory(const GpuMemory& memory) {
  if (auto failed = failure()) return *std::move(failed);
  if (flushes_ == nullptr) {
    auto flushes = FlushQueue::open(card_, registered_, counters_);
    if (!flushes) return flushes.error();
    auto writes = GpuWrites::open(card_, registered_, counters_);
    if (!writes) return writes.error();
    flushes_ = std::move(flushes).value();
    writes_ = std::move(writes).value();
  }
  return registered_.add(memory);
}

bool VerbsPlacer::is_gpu_memory(std::span<const std::byte> memory) {
  return registered_.is_on_gpu(memory);
}

bool VerbsPlacer::flush(std::span<const std::byte> memory) {
  return flushes_ != nullptr && flushes_->start(memory);
}

std::size_t VerbsPlacer::flushed(Time now) {
  return flushes_ != nullptr && !is_stopped_ ? flushes_->finished(now) : 0;
}

bool VerbsPlacer::write(std::span<std::byte> to, std::span<const std::byte> from) {
  return writes_ != nullptr && writes_->start(to, from);
}

std::size_t VerbsPlacer::written(Time now) {
  return writes_ != nullptr && !is_stopped_ ? writes_->finished(now) : 0;
}

bool VerbsPlacer::writes(std::span<const std::byte> memory) const {
  return writes_ != nullptr && !is_stopped_ && writes_->writes(memory);
}

void VerbsPlacer::stop_writes(std::span<const std::byte> memory) {
  if (writes_ != nullptr) writes_->stop(memory);
}

bool VerbsPlacer::can_place_from(std::span<const std::byte> memory) {
  return registered_.key_of(memory).has_value();
}

ConnectedQueue* VerbsPlacer::queue_of(const LinkPath& way) {
  const auto* const link = links_.find(way.link);
  if (link == nullptr) return nullptr;
  const auto& of_class = link->queues[static_cast<std::size_t>(way.traffic_class)];
  if (way.path >= of_class.size()) return nullptr;
  way_bytes_max_ = link->limits.payload_bytes_max;
  QueueTable::Slot& slot = queues_.at(of_class[way.path]);
  if (!std::exchange(slot.is_used, true)) used_.push_back(of_class[way.path]);
  return slot.queue.get();
}

void VerbsPlacer::post() {
  chain_.post();
  is_any_broken_ = is_any_broken_ || (way_queue_ != nullptr && way_queue_->is_broken());
}

// The packet is lost. Over RC the caller would wait for it, unless the path fails.
void VerbsPlacer::lose() {
  ++counters_.placed_tx_lost;
  const bool is_reliable = options_.ability.transport == PlacementTransport::kRc;
  if (is_reliable && way_queue_ != nullptr) way_queue_->set_broken();
}

// A queue is full only if it holds packets that count as lost already: an RC queue pair whose peer
// does not answer, or a UC queue pair that the card pauses. Other peers must not wait for that, so
// the packet is lost.
void VerbsPlacer::add(const PlacedPacket& packet) {
  if (packet.way != way_) {
    post();
    way_ = packet.way;
    way_queue_ = queue_of(way_);
  }
  ConnectedQueue* const queue = way_queue_;
  if (queue == nullptr || !queue->is_connected() || queue->is_broken() ||
      packet.payload.size() > way_bytes_max_)
    return lose();
  if (queue->room() == 0) {
    chain_.post();
    collect_sent(queues_.group_of(*queue));
    counters_.placed_tx_queue_full += queue->room() == 0 ? 1 : 0;
    if (queue->is_broken() || queue->room() == 0) return lose();
  }
  const auto key = registered_.key_of(packet.payload);
  if (!key) return lose();
  chain_.add(*queue, packet, *key);
}

std::size_t VerbsPlacer::place(std::span<const PlacedPacket> packets) {
  way_ = {};
  way_queue_ = nullptr;
  if (is_stopped_) return packets.size();
  for (const PlacedPacket& packet : packets)
    add(packet);
  post();
  return packets.size();
}

void VerbsPlacer::collect_sent(QueueTable::Group& group) {
  int got = 0;
  do {
    got = card_.verbs->poll_cq(group.send_cq.get(), static_cast<int>(completions_.size()),
                               completions_.data());
    for (int i = 0; i < got; ++i) {
      const ibv_wc& completion = completions_[static_cast<std::size_t>(i)];
      QueueTable::Slot* const slot = queues_.find(ConnectedQueue::name_of(completion));
      if (slot == nullptr || slot->queue == nullptr) continue;
      if (completion.status == IBV_WC_SUCCESS && slot->queue->is_current(completion))
        slot->pause.on_success();
      slot->queue->on_send_completion(completion);
      is_any_broken_ = is_any_broken_ || slot->queue->is_broken();
    }
  } while (got == static_cast<int>(completions_.size()));
}

void VerbsPlacer::on_received(const ibv_wc& completion, RunWriter& runs) {
  QueueTable::Slot* const slot = queues_.find(ConnectedQueue::name_of(completion));
  if (slot == nullptr || slot->queue == nullptr || !slot->queue->is_current(completion)) return;
  ConnectedQueue& queue = *slot->queue;
  queue.use_receive();
  if (completion.status != IBV_WC_SUCCESS || completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
    ++counters_.placed_rx_errors;
    const bool ends_queue = options_.ability.transport == PlacementTransport::kRc;
    if (completion.status == IBV_WC_WR_FLUSH_ERR || ends_queue) queue.set_broken();
  } else {
    slot->pause.on_success();
    runs.add(slot->way, ntohl(completion.imm_data), completion.byte_len);
    ++counters_.placed_rx_packets;
    counters_.bytes_placed_by_nic += completion.byte_len;
  }
  if (queue.receives_missing() >= queues_.options().receives / 8) receives_.fill(queue);
  is_any_broken_ = is_any_broken_ || queue.is_broken();
}

std::size_t VerbsPlacer::placed(Time now, std::span<PlacedRun> out) {
  if (is_stopped_) return 0;
  RunWriter runs(out, now);
  auto& groups = queues_.groups();
  for (std::size_t polled = 0; polled < groups.size() && runs.room() > 0; ++polled) {
    auto& group = groups[next_group_ % groups.size()];
    collect_sent(group);
    std::size_t wanted = 0;
    int got = 0;
    do {
      wanted = std::min(runs.room(), completions_.size());
      got = card_.verbs->poll_cq(group.receive_cq.get(), static_cast<int>(wanted),
                                 completions_.data());
      for (int i = 0; i < got; ++i)
        on_received(completions_[static_cast<std::size_t>(i)], runs);
    } while (got == static_cast<int>(wanted) && runs.room() > 0);
    ++next_group_;  // also if the group has more: no group waits for another
  }
  counters_.placed_rx_runs += runs.count();
  repair(now);
  return runs.count();
}

void VerbsPlacer::repair(Time now) {
  if (!is_any_broken_ || !repair_pause_.is_over(now)) return;
  repair_pause_.start(now);
  counters_.placement_queue_pairs_reset += links_.repair(now);
  is_any_broken_ = queues_.needs_repair();
}

bool VerbsPlacer::reads(std::span<const std::byte> memory) {
  bool any = false;
  std::erase_if(used_, [&](std::uint16_t index) {
    QueueTable::Slot& slot = queues_.at(index);
    if (slot.queue != nullptr && slot.queue->reads(memory)) {
      if (!is_stopped_) collect_sent(queues_.group_of(*slot.queue));
      any = any || slot.queue->reads(memory);
    }
    slot.is_used = slot.queue != nullptr && slot.queue->has_outstanding();
    return !slot.is_used;
  });
  return any;
}

void VerbsPlacer::abandon(std::span<const std::byte> memory) {
  for (QueueTable::Slot& slot : queues_.slots()) {
    if (slot.queue == nullptr || !slot.queue->reads(memory)) continue;
    slot.queue->reset();
    is_any_broken_ = true;  // so that it is connected again
  }
}

void VerbsPlacer::on_release(std::span<const std::byte> memory) {
  if (flushes_ != nullptr) flushes_->on_release(memory);
  if (writes_ != nullptr) writes_->on_release(memory);
  revoke_all(memory);
}

// If the card refuses, only the end of the queues keeps the peers from writing.
void VerbsPlacer::revoke_all(std::span<const std::byte> memory) {
  if (permissions_->revoke_memory(memory)) return;
  for (QueueTable::Slot& slot : queues_.slots())
    if (slot.queue != nullptr) slot.queue->destroy();
}

bool VerbsPlacer::arm() {
  bool armed = permissions_->arm(*card_.verbs);
  for (auto& group : queues_.groups())
    armed = card_.verbs->req_notify_cq(group.receive_cq.get()) == 0 && armed;
  return armed;
}

}  // namespace dlcp::datapath
