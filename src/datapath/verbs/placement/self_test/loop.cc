#include "datapath/verbs/placement/self_test/loop.h"

#include <arpa/inet.h>

#include <algorithm>
#include <chrono>

namespace dlcp::datapath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSends = 128;
constexpr Duration kPatience = 1s;
constexpr std::byte kPattern{0x5a};
constexpr std::byte kCanary{0xee};

}  // namespace

Loop::Loop(VerbsCard& card, PlacementTransport transport)
    : card_(card),
      transport_(transport),
      source_(std::size_t{128} << card.path_mtu, kPattern),
      target_(source_.size()),
      other_(source_.size()),
      chain_(*card.verbs, counters_),
      receives_(*card.verbs) {}

Result<std::unique_ptr<Loop>> Loop::open(VerbsCard& card, PlacementTransport transport) {
  std::unique_ptr<Loop> loop(new Loop(card, transport));
  if (auto opened = loop->open_queues(); !opened) return opened.error();
  if (auto opened = loop->open_memory(); !opened) return opened.error();
  return loop;
}

// Also replaces the queues. The new ones are opened first, so that their numbers are different.
Status Loop::open_queues() {
  Verbs* const verbs = card_.verbs.get();
  const auto open_cq = [&](std::uint32_t entries) {
    return CqPtr(verbs->create_cq(card_.context.get(), static_cast<int>(2 * entries), nullptr),
                 {verbs});
  };
  auto queues = std::make_unique<Queues>();
  queues->send_cq = open_cq(kSends);
  queues->receive_cq = open_cq(kReceives);
  if (queues->send_cq == nullptr || queues->receive_cq == nullptr)
    return verbs_error("create a completion queue", card_.port, 0);
  const QueueOptions options{transport_, kSends, kReceives};
  for (auto* const queue : {&queues->sender, &queues->receiver}) {
    auto opened = ConnectedQueue::open(card_, queues->send_cq.get(), queues->receive_cq.get(), {},
                                       options, counters_);
    if (!opened) return opened.error();
    *queue = std::move(opened).value();
  }
  const auto remote = [&](const ConnectedQueue& queue) {
    return QueueRemote{card_.port.gid.ip, queue.number(), card_.path_mtu, 1, 0};
  };
  queues_ = std::move(queues);
  has_failed_ = false;
  ConnectedQueue& receiver = *queues_->receiver;
  if (auto connected = receiver.connect(remote(*queues_->sender)); !connected) return connected;
  receives_.fill(receiver);
  return queues_->sender->connect(remote(receiver));
}

Status Loop::open_memory() {
  const auto add = [&](std::vector<std::byte>& memory, int access) {
    return MrPtr(card_.verbs->reg_mr(card_.pd.get(), memory.data(), memory.size(), access),
                 {card_.verbs.get()});
  };
  source_mr_ = add(source_, 0);
  other_mr_ = add(other_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  target_mr_ =
      add(target_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING);
  if (target_mr_ == nullptr) target_mr_ = add(target_, IBV_ACCESS_LOCAL_WRITE);
  if (source_mr_ == nullptr || other_mr_ == nullptr || target_mr_ == nullptr)
    return verbs_error("register memory", card_.port, 0);
  return Unit{};
}

void Loop::make_room() {
  ibv_wc completion{};
  const auto end = Clock::now() + kPatience;
  while (queues_->sender->room() == 0 && !queues_->sender->is_broken() && Clock::now() < end)
    if (card_.verbs->poll_cq(queues_->send_cq.get(), 1, &completion) > 0)
      queues_->sender->on_send_completion(completion);
  has_failed_ = has_failed_ || queues_->sender->room() == 0 || queues_->sender->is_broken();
}

void Loop::write(std::uint32_t key, std::size_t packets) {
  for (std::size_t i = 0; i < packets && !has_failed_; ++i) {
    if (queues_->sender->room() == 0) {
      chain_.post();
      make_room();
      if (has_failed_) return;
    }
    chain_.add(*queues_->sender,
               {{}, {}, reinterpret_cast<std::uintptr_t>(target_.data()), key, source_},
               source_mr_->lkey);
  }
  chain_.post();
}

// Looks for the completion with this immediate; true if it came.
bool Loop::collect(std::uint32_t immediate) {
  ibv_wc completion{};
  while (card_.verbs->poll_cq(queues_->send_cq.get(), 1, &completion) > 0)
    queues_->sender->on_send_completion(completion);
  bool found = false;
  while (!found && card_.verbs->poll_cq(queues_->receive_cq.get(), 1, &completion) > 0) {
    queues_->receiver->use_receive();
    has_failed_ = has_failed_ || completion.status != IBV_WC_SUCCESS;
    found = completion.status == IBV_WC_SUCCESS && (completion.wc_flags & IBV_WC_WITH_IMM) != 0 &&
            ntohl(completion.imm_data) == immediate;
  }
  receives_.fill(*queues_->receiver);
  return found;
}

bool Loop::passes() {
  PlacedPacket packet;
  packet.index.index = ++last_index_;
  packet.index.slot = 1;
  packet.address = reinterpret_cast<std::uintptr_t>(other_.data());
  packet.key = other_mr_->rkey;
  packet.payload = source_;
  if (queues_->sender->room() == 0) make_room();
  if (has_failed_) return false;
  std::ranges::fill(other_, kCanary);
  chain_.add(*queues_->sender, packet, source_mr_->lkey);
  chain_.post();
  const auto end = Clock::now() + kPatience;
  bool found = false;
  while (!found && !has_failed_ && !queues_->sender->is_broken() && Clock::now() < end)
    found = collect(packet.index.pack());
  return found && other_ == source_ && !has_failed_ && !queues_->sender->is_broken();
}

bool Loop::is_placed(std::uint32_t key) {
  fill_with_canary();
  write(key, 1);
  return passes() && target_ == source_;
}

bool Loop::is_dropped(std::uint32_t key) {
  fill_with_canary();
  write(key, kReceives + 1);
  return passes() && is_canary_intact();
}

// RC: waits for the end of all writes, by acknowledgement or by failure.
bool Loop::ends() {
  ConnectedQueue& sender = *queues_->sender;
  ibv_wc completion{};
  const auto end = Clock::now() + kPatience;
  while (sender.has_outstanding() && !sender.is_broken() && Clock::now() < end) {
    while (card_.verbs->poll_cq(queues_->send_cq.get(), 1, &completion) > 0)
      sender.on_send_completion(completion);
    while (card_.verbs->poll_cq(queues_->receive_cq.get(), 1, &completion) > 0)
      queues_->receiver->use_receive();
  }
  return !sender.has_outstanding() || sender.is_broken();
}

bool Loop::settles() {
  if (transport_ == PlacementTransport::kRc) {
    if (!ends()) return false;
    if (queues_->sender->is_broken() && !open_queues()) return false;
    receives_.fill(*queues_->receiver);
  }
  return passes();
}

bool Loop::is_refused(std::uint32_t key) {
  fill_with_canary();
  write(key, 1);
  return ends() && queues_->sender->is_broken() && is_canary_intact();
}

void Loop::fill_with_canary() {
  std::ranges::fill(target_, kCanary);
}

bool Loop::is_canary_intact() const {
  // Through volatile, because the card writes it.
  const volatile std::byte* const bytes = target_.data();
  for (std::size_t i = 0; i < target_.size(); ++i)
    if (bytes[i] != kCanary) return false;
  return true;
}

}  // namespace dlcp::datapath
