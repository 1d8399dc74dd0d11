// Passes packets to the rings and back; see the header. A packet whose ring is broken counts as
// accepted and lost; the core sends it again on another path.
#include "datapath/verbs/verbs_datapath.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <utility>

#include "util/system/random_seed.h"

namespace dlcp::datapath {
namespace {

constexpr std::uint32_t kRequestsMin = 32;  // of one sending queue pair
constexpr unsigned kDistinctTries = 8;
constexpr std::size_t kLabelSets = 4;       // for the paths of placed packets, one after the other
constexpr Duration kLookEvery = 10ms;       // at the device's events, while callers poll
constexpr Duration kSoftwareDelay = 10ms;   // its packets wait for processor time (see README)
constexpr Duration kPresenceEvery = 200ms;  // checks that the device still exists

std::size_t queue_pairs_for(const VerbsOptions& options) {
  return options.port.entropy == Entropy::kFlowLabel
             ? 1
             : std::clamp<std::size_t>(options.paths, 1, kQueuePairsMax);
}

AddressHandles::Options handle_options(const VerbsCard& card, const VerbsOptions& options,
                                       std::uint64_t seed) {
  AddressHandles::Options handles;
  handles.tos = options.tos;
  handles.capacity = std::min<std::size_t>(options.handles_max, card.handles_max);
  handles.flow_labels =
      flow_labels(card.port.entropy == Entropy::kFlowLabel ? options.paths : 1, seed);
  return handles;
}

bool watch(int poll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

}  // namespace

VerbsDatapath::VerbsDatapath(std::unique_ptr<VerbsCard> card, const VerbsOptions& options)
    : seed_(random_seed()),
      card_(std::move(card)),
      regions_(*card_, options.placement.permissions == PermissionKind::kWindow),
      handles_(*card_, handle_options(*card_, options, seed_)),
      wait_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (options.datagram_bytes_max != 0)
    card_->mtu = std::min(card_->mtu, options.datagram_bytes_max);
}

Result<std::unique_ptr<VerbsDatapath>> VerbsDatapath::open(std::shared_ptr<Verbs> verbs,
                                                           const VerbsOptions& options) {
  auto card = VerbsCard::open(std::move(verbs), options.port, 2 * options.send_requests,
                              options.receive_buffers + 1);
  if (!card) return card.error();
  std::unique_ptr<VerbsDatapath> datapath(new VerbsDatapath(std::move(card).value(), options));
  if (auto opened = datapath->open_rings(options); !opened) return opened.error();
  return datapath;
}

Status VerbsDatapath::open_rings(const VerbsOptions& options) {
  const std::size_t queue_pairs = queue_pairs_for(options);
  const auto share = options.send_requests / static_cast<std::uint32_t>(queue_pairs);
  const std::uint32_t requests = std::min(std::max(share, kRequestsMin), card_->requests_max);
  for (std::size_t i = 0; i < queue_pairs; ++i) {
    auto ring = SendRing::open(*card_, regions_, static_cast<std::uint8_t>(i), requests, counters_);
    if (!ring) return ring.error();
    rings_.push_back(std::move(ring).value());
    // The driver chooses the number, and the number determines the port: reopen if two ports are
    // equal.
    for (unsigned tries = 0; tries < kDistinctTries && source_ports() < rings_.size(); ++tries)
      if (auto again = rings_.back()->reopen(); !again) return again.error();
  }
  auto receive =
      ReceiveRing::open(*card_, std::min(options.receive_buffers, card_->requests_max), counters_);
  if (!receive) return receive.error();
  receive_ = std::move(receive).value();
  counters_ = {};  // counting starts here
  if (!wait_.valid() || !watch(wait_.get(), card_->channel->fd) ||
      !watch(wait_.get(), card_->context->async_fd))
    return verbs_error("wait for completions", card_->port, 0);
  paths_ = card_->port.entropy == Entropy::kFlowLabel ? options.paths : rings_.size();
  if (auto opened = open_placer(options); !opened) return opened.error();
  address_.ip = card_->port.gid.ip;
  address_.add(LocatorKind::kQueuePair, receive_->queue_pair_number());
  address_blob_ = encode(address_);
  return Unit{};
}

Status VerbsDatapath::open_placer(const VerbsOptions& options) {
  if (!options.placement.places()) return Unit{};
  VerbsPlacer::Options placing;
  placing.ability = options.placement;
  placing.marks = {options.tos, flow_labels(kLabelSets * kPathsPerClassMax, seed_)};
  auto placer = VerbsPlacer::open(*card_, regions_, placing);
  if (!placer) return placer.error();
  placer_ = std::move(placer).value();
  return Unit{};
}

std::vector<NamedCount> VerbsDatapath::counts() const {
  auto counts = counts_of<VerbsCounters>(counters_, kVerbsCounterRows);
  const PlacementCounters placing = placer_ != nullptr ? placer_->counters() : PlacementCounters{};
  std::ranges::copy(counts_of<PlacementCounters>(placing, kPlacementCounterRows),
                    std::back_inserter(counts));
  return counts;
}

std::size_t VerbsDatapath::source_ports() const {
  if (card_->port.entropy == Entropy::kFlowLabel) return paths_;
  std::set<std::uint32_t> ports;
  for (const auto& ring : rings_) {
    const std::uint32_t number = ring->queue_pair_number();
    ports.insert(source_port_of_queue_pair(card_->port.driver, number).value_or(number));
  }
  return ports.size();
}

Limits VerbsDatapath::limits() const {
  Limits limits;
  limits.datagram_bytes_max = card_->mtu;
  limits.paths = paths_;
  // A quarter of the buffers is reserved for control frames and small packets.
  limits.receive_capacity_bytes = receive_->buffers() / 4 * 3 * card_->mtu;
  limits.host_delay = is_software(card_->port) ? kSoftwareDelay : Duration::zero();
  return limits;
}

std::string VerbsDatapath::describe(const wire::EndpointAddress& address) const {
  const auto decoded = decode_device_address(address);
  return decoded ? to_string(*decoded) : std::string();
}

// If the host has lost the device's address, new handles send from another one, and peers drop
// these packets.
PathReport VerbsDatapath::last_report(const wire::EndpointAddress&) const {
  ibv_gid gid{};
  std::ranges::copy(gid_of(card_->port.gid.ip), gid.raw);
  if (card_->verbs->has_gid(card_->context.get(), static_cast<std::uint8_t>(card_->port.port),
                            card_->port.gid.index, gid))
    return {};
  return {PathReport::Kind::kNoAddress, to_string(card_->port.gid.ip), now_};
}

Status VerbsDatapath::check_reachable(const wire::EndpointAddress& peer) const {
  const auto decoded = decode_device_address(peer);
  if (!decoded || !decoded->has(LocatorKind::kQueuePair)) {
    return Error{
        ErrorCode::kInvalidUsage,
        fmt::format("this rank sends over RoCE ({}), but the peer's rank{} does not",
                    to_string(card_->port), decoded ? " at " + to_string(*decoded) : std::string()),
        "see `dlcp doctor` there, or set DLCP_DATAPATH=udp on all ranks"};
  }
  if (decoded->ip.family != address_.ip.family) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("this rank's RoCE address is {}, the peer's is {}; their families "
                             "differ",
                             to_string(address_.ip), to_string(decoded->ip)),
                 "choose GIDs of one family on all ranks (DLCP_GID_INDEX)"};
  }
  return Unit{};
}

bool VerbsDatapath::resolve(const wire::EndpointAddress& destination) {
  if (destination == resolved_) return peer_.queue_pair != 0;
  resolved_ = destination;
  peer_ = {};
  const auto decoded = decode_device_address(destination);
  if (decoded && decoded->ip.family == address_.ip.family && decoded->has(LocatorKind::kQueuePair))
    peer_ = {decoded->ip, decoded->of(LocatorKind::kQueuePair).front().value};
  return peer_.queue_pair != 0;
}

void VerbsDatapath::turn_to(const wire::TxPacket& packet) {
  if (packet.destination != way_.destination || packet.path != way_.path ||
      packet.traffic_class != way_.traffic_class) {
    way_ = {packet.destination, packet.path, packet.traffic_class,
            rings_[packet.path % rings_.size()].get(), nullptr};
  }
}

// False if its ring is full; nothing was changed then.
bool VerbsDatapath::add(const wire::TxPacket& packet) {
  turn_to(packet);
  SendRing& ring = *way_.ring;
  if (!ring.is_broken() && !ring.has_room()) {
    ring.flush();
    collect_completions();
    if (!ring.is_broken() && !ring.has_room()) return false;
  }
  if (ring.is_broken() || packet.header_bytes + packet.payload.size() > card_->mtu) {
    ++counters_.tx_lost;
    return true;
  }
  if (way_.handle == nullptr && resolve(*packet.destination))
    way_.handle = handles_.find(now_, peer_.ip, packet.path, packet.traffic_class);
  if (way_.handle == nullptr) {
    ++counters_.tx_unreachable;
    return true;
  }
  const bool is_on_gpu =
      ring.fits_inline(packet) && !packet.payload.empty() && regions_.is_on_gpu(packet.payload);
  ring.add(packet, *way_.handle, peer_.queue_pair, regions_.key_of(packet.payload), is_on_gpu);
  if (handles_.is_full()) ring.signal_last();
  return true;
}

std::size_t VerbsDatapath::send(std::span<const wire::TxPacket> packets) {
  way_ = {};
  std::size_t taken = 0;
  while (taken < packets.size() && (gone_ || add(packets[taken])))
    ++taken;
  for (const auto& ring : rings_)
    ring->flush();
  counters_.tx_queue_full += taken < packets.size() ? 1 : 0;
  counters_.handles_made = handles_.made();
  return taken;
}

void VerbsDatapath::collect_completions() {
  int got = 0;
  do {
    got = card_->verbs->poll_cq(card_->send_cq.get(), static_cast<int>(completions_.size()),
                                completions_.data());
    for (int i = 0; i < got; ++i) {
      const ibv_wc& completion = completions_[static_cast<std::size_t>(i)];
      if (const std::size_t ring = SendRing::ring_of(completion); ring < rings_.size())
        rings_[ring]->on_completion(completion);
    }
  } while (got == static_cast<int>(completions_.size()));
}

std::size_t VerbsDatapath::receive(Time now, std::span<wire::RxPacket> out) {
  now_ = now;
  if (!gone_ && now >= next_look_) {
    next_look_ = now + kLookEvery;
    collect_events();
  }
  if (gone_) return 0;
  if (std::ranges::any_of(rings_, [](const auto& ring) { return ring->has_outstanding(); }))
    collect_completions();
  repair(now);
  return receive_->receive(now, out);
}

// Replaces broken queue pairs.
void VerbsDatapath::repair(Time now) {
  if (!repair_pause_.is_over(now) ||
      std::ranges::none_of(rings_, [](const auto& ring) { return ring->is_broken(); }))
    return;
  repair_pause_.start(now);
  for (const auto& ring : rings_)
    if (ring->is_broken() && ring->reopen()) ++counters_.queue_pairs_rebuilt;
}

void VerbsDatapath::collect_events() {
  ibv_async_event event{};
  while (card_->verbs->get_async_event(card_->context.get(), &event) == 0) {
    lost_completions_ = lost_completions_ || event.event_type == IBV_EVENT_CQ_ERR;
    gone_ = gone_ || lost_completions_ || event.event_type == IBV_EVENT_DEVICE_FATAL;
    card_->verbs->ack_async_event(&event);
  }
  gone_ = gone_ || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  if (now_ >= next_presence_) {
    next_presence_ = now_ + kPresenceEvery;
    gone_ = gone_ || card_->verbs->is_removed(card_->context.get());
  }
  if (gone_) {  // its descriptors would report this forever
    if (placer_ != nullptr) placer_->stop();
    ::epoll_ctl(wait_.get(), EPOLL_CTL_DEL, card_->channel->fd, nullptr);
    ::epoll_ctl(wait_.get(), EPOLL_CTL_DEL, card_->context->async_fd, nullptr);
  }
}

bool VerbsDatapath::arm() {
  if (gone_) return false;
  collect_events();
  if (armed_) {
    bool has_event = false;
    for (ibv_cq* cq = nullptr; card_->verbs->get_cq_event(card_->channel.get(), &cq) == 0;) {
      card_->verbs->ack_cq_events(cq, 1);
      has_event = true;
    }
    if (!has_event) return false;  // nothing has arrived since, and an event will report it
  }
  armed_ = card_->verbs->req_notify_cq(card_->receive_cq.get()) == 0 &&
           (placer_ == nullptr || placer_->arm());
  return true;
}

std::optional<Error> VerbsDatapath::failure() const {
  if (std::ranges::any_of(rings_, [](const auto& ring) { return ring->lacks_payload(); })) {
    return Error{ErrorCode::kInternal,
                 fmt::format("a packet for {} refers to GPU memory that is not registered any more",
                             to_string(card_->port)),
                 "please report this message; DLCP_ROCE_PLACEMENT=off avoids GPU memory"};
  }
  if (!gone_ && !receive_->is_broken())
    return placer_ != nullptr ? placer_->failure() : std::nullopt;
  const char* const cause = lost_completions_ ? "has lost a completion queue"
                            : gone_           ? "is gone"
                                              : "has closed its receive queue";
  return Error{ErrorCode::kSystem,
               fmt::format("the RDMA device {} {}", to_string(card_->port), cause),
               "see the kernel's log, then restart the job"};
}

bool VerbsDatapath::reads(std::span<const std::byte> memory) {
  if (placer_ != nullptr && placer_->reads(memory)) return true;
  const auto read_by = [&](const auto& ring) { return ring->reads(memory); };
  if (std::ranges::none_of(rings_, read_by)) return false;
  collect_completions();
  return std::ranges::any_of(rings_, read_by);
}

void VerbsDatapath::abandon(std::span<const std::byte> memory) {
  for (const auto& ring : rings_)
    if (ring->reads(memory)) ring->discard();
  if (placer_ != nullptr) placer_->abandon(memory);
}

void VerbsDatapath::release_memory(std::span<std::byte> memory) {
  // For every user of the memory: the peer of one that ends may still place packets, while another
  // connection already receives there.
  if (placer_ != nullptr) placer_->on_release(memory);
  regions_.release(memory);
}

}  // namespace dlcp::datapath
