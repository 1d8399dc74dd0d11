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

Loop::Loop(VerbsCard& card)
    : card_(card),
      source_(std::size_t{128} << card.path_mtu, kPattern),
      target_(source_.size()),
      other_(source_.size()),
      chain_(*card.verbs, counters_),
      receives_(*card.verbs) {}

Result<std::unique_ptr<Loop>> Loop::open(VerbsCard& card, PlacementTransport transport) {
  std::unique_ptr<Loop> loop(new Loop(card));
  if (auto opened = loop->open_queues(transport); !opened) return opened.error();
  if (auto opened = loop->open_memory(); !opened) return opened.error();
  return loop;
}

Status Loop::open_queues(PlacementTransport transport) {
  Verbs* const verbs = card_.verbs.get();
  const auto open_cq = [&](std::uint32_t entries) {
    return CqPtr(verbs->create_cq(card_.context.get(), static_cast<int>(2 * entries), nullptr),
                 {verbs});
  };
  send_cq_ = open_cq(kSends);
  receive_cq_ = open_cq(kReceives);
  if (send_cq_ == nullptr || receive_cq_ == nullptr)
    return verbs_error("create a completion queue", card_.port, 0);
  const QueueOptions options{transport, kSends, kReceives};
  for (auto* const queue : {&sender_, &receiver_}) {
    auto opened =
        ConnectedQueue::open(card_, send_cq_.get(), receive_cq_.get(), {}, options, counters_);
    if (!opened) return opened.error();
    *queue = std::move(opened).value();
  }
  const auto remote = [&](const ConnectedQueue& queue) {
    return QueueRemote{card_.port.gid.ip, queue.number(), card_.path_mtu, 1, 0};
  };
  if (auto connected = receiver_->connect(remote(*sender_)); !connected) return connected;
  receives_.fill(*receiver_);
  return sender_->connect(remote(*receiver_));
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
  while (sender_->room() == 0 && !sender_->is_broken() && Clock::now() < end)
    if (card_.verbs->poll_cq(send_cq_.get(), 1, &completion) > 0)
      sender_->on_send_completion(completion);
  has_failed_ = has_failed_ || sender_->room() == 0 || sender_->is_broken();
}

void Loop::write(std::uint32_t key, std::size_t packets) {
  for (std::size_t i = 0; i < packets && !has_failed_; ++i) {
    if (sender_->room() == 0) {
      chain_.post();
      make_room();
      if (has_failed_) return;
    }
    chain_.add(*sender_, {{}, {}, reinterpret_cast<std::uintptr_t>(target_.data()), key, source_},
               source_mr_->lkey);
  }
  chain_.post();
}

// Looks for the completion with this immediate; true if it came.
bool Loop::collect(std::uint32_t immediate) {
  ibv_wc completion{};
  while (card_.verbs->poll_cq(send_cq_.get(), 1, &completion) > 0)
    sender_->on_send_completion(completion);
  bool found = false;
  while (!found && card_.verbs->poll_cq(receive_cq_.get(), 1, &completion) > 0) {
    receiver_->use_receive();
    has_failed_ = has_failed_ || completion.status != IBV_WC_SUCCESS;
    found = completion.status == IBV_WC_SUCCESS && (completion.wc_flags & IBV_WC_WITH_IMM) != 0 &&
            ntohl(completion.imm_data) == immediate;
  }
  receives_.fill(*receiver_);
  return found;
}

bool Loop::passes() {
  PlacedPacket packet;
  packet.index.index = ++last_index_;
  packet.index.slot = 1;
  packet.address = reinterpret_cast<std::uintptr_t>(other_.data());
  packet.key = other_mr_->rkey;
  packet.payload = source_;
  if (sender_->room() == 0) make_room();
  if (has_failed_) return false;
  std::ranges::fill(other_, kCanary);
  chain_.add(*sender_, packet, source_mr_->lkey);
  chain_.post();
  const auto end = Clock::now() + kPatience;
  bool found = false;
  while (!found && !has_failed_ && !sender_->is_broken() && Clock::now() < end)
    found = collect(packet.index.pack());
  return found && other_ == source_ && !has_failed_ && !sender_->is_broken();
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
