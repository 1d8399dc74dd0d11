#include "datapath/verbs/placement/queue_pairs/connected_queue.h"

#include <cstring>

#include "datapath/repeat_time.h"
#include "datapath/verbs/rings/address_handles.h"

namespace dlcp::datapath {
namespace {

// RC: a path that loses everything has failed after 118 ms, or 235 ms if the round trip is long
// (repeat_time.h). If the receiver has no receive, it reports a wait of 0.64 ms (code 12), and the
// card repeats without limit (seven).
constexpr std::uint8_t kNoReceiveRetries = 7;
constexpr std::uint8_t kReceiverPause = 12;

bool is_reliable(const QueueOptions& options) {
  return options.transport == PlacementTransport::kRc;
}

// The number of the first packet from one queue pair to another. UC accepts any; RC needs the same
// at both ends. It differs for each pair, so that a late packet of an earlier connection is not
// taken for one of the present connection, whose own packet would then count as a duplicate.
std::uint32_t first_packet(std::uint32_t from, std::uint32_t to) {
  const std::uint64_t pair = std::uint64_t{from} << 24 | to;
  return static_cast<std::uint32_t>(pair * 0x9e3779b97f4a7c15u >> 40);
}

}  // namespace

ConnectedQueue::ConnectedQueue(VerbsCard& card, Name name, const QueueOptions& options,
                               PlacementCounters& counters)
    : card_(card),
      name_(name),
      options_(options),
      counters_(counters),
      receives_missing_(options.receives),
      records_(options.sends) {}

Result<std::unique_ptr<ConnectedQueue>> ConnectedQueue::open(VerbsCard& card, ibv_cq* send_cq,
                                                             ibv_cq* receive_cq, Name name,
                                                             const QueueOptions& options,
                                                             PlacementCounters& counters) {
  std::unique_ptr<ConnectedQueue> queue(new ConnectedQueue(card, name, options, counters));
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_cq;
  attributes.recv_cq = receive_cq;
  attributes.qp_type = is_reliable(options) ? IBV_QPT_RC : IBV_QPT_UC;
  attributes.cap.max_send_wr = options.sends;
  attributes.cap.max_recv_wr = options.receives;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  queue->qp_ = {card.verbs->create_qp(card.pd.get(), &attributes), {card.verbs.get()}};
  if (queue->qp_ == nullptr) return verbs_error("create a connected queue pair", card.port, 0);
  queue->number_ = queue->qp_->qp_num;
  if (auto done = queue->initialise(); !done) return done.error();
  ++counters.placement_queue_pairs;
  return queue;
}

Status ConnectedQueue::initialise() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = static_cast<std::uint8_t>(card_.port.port);
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_WRITE | (options_.permits_reads ? IBV_ACCESS_REMOTE_READ : 0);
  if (const int error = card_.verbs->modify_qp(
          qp_.get(), &attributes,
          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    return verbs_error("initialise a connected queue pair", card_.port, error);
  is_initialised_ = true;
  return Unit{};
}

Status ConnectedQueue::connect(const QueueRemote& remote) {
  if (!is_initialised_ || is_broken_) {
    reset();
    if (is_broken_) return verbs_error("reset a connected queue pair", card_.port, 0);
    if (auto done = initialise(); !done) return done;
  }
  if (auto done = make_ready(remote); !done) {
    is_initialised_ = false;  // the next connect() begins with a reset
    return done;
  }
  is_connected_ = true;
  return Unit{};
}

Status ConnectedQueue::make_ready(const QueueRemote& remote) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = remote.mtu;
  attributes.dest_qp_num = remote.queue_pair;
  attributes.rq_psn = first_packet(remote.queue_pair, number_);
  const auto gid = gid_of(remote.ip);
  std::memcpy(attributes.ah_attr.grh.dgid.raw, gid.data(), gid.size());
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(card_.port.gid.index);
  attributes.ah_attr.grh.hop_limit = kHopLimit;
  attributes.ah_attr.grh.traffic_class = remote.tos;
  attributes.ah_attr.grh.flow_label = remote.flow_label;
  attributes.ah_attr.port_num = static_cast<std::uint8_t>(card_.port.port);
  int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (is_reliable(options_)) {
    attributes.max_dest_rd_atomic = 1;
    attributes.min_rnr_timer = kReceiverPause;
    mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  is_initialised_ = false;
  if (const int error = card_.verbs->modify_qp(qp_.get(), &attributes, mask))
    return verbs_error("make a connected queue pair receive", card_.port, error);
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet(number_, remote.queue_pair);
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (is_reliable(options_)) {
    attributes.timeout = remote.repeat_exponent;
    attributes.retry_cnt = kRepeats;
    attributes.rnr_retry = kNoReceiveRetries;
    attributes.max_rd_atomic = 1;
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  if (const int error = card_.verbs->modify_qp(qp_.get(), &attributes, mask))
    return verbs_error("make a connected queue pair send", card_.port, error);
  return Unit{};
}

void ConnectedQueue::reset() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  is_broken_ = qp_ == nullptr || card_.verbs->modify_qp(qp_.get(), &attributes, IBV_QP_STATE) != 0;
  is_connected_ = is_initialised_ = false;
  if (is_broken_) qp_.reset();
  counters_.placed_tx_lost += added_ - reclaimed_;
  reclaimed_ = added_;
  receives_missing_ = options_.receives;
  name_ = next_name();
}

void ConnectedQueue::destroy() {
  is_destroyed_ = true;
  qp_.reset();
  reset();
}

std::uint64_t ConnectedQueue::add(std::span<const std::byte> payload) {
  records_[added_ & (records_.size() - 1)] = {payload.data(), payload.data() + payload.size()};
  return id_of(added_++);
}

bool ConnectedQueue::reads(std::span<const std::byte> memory) const {
  const std::byte* const begin = memory.data();
  const std::byte* const end = begin + memory.size();
  for (std::uint64_t request = reclaimed_; request < added_; ++request) {
    const Record& record = records_[request & (records_.size() - 1)];
    if (record.begin < end && begin < record.end) return true;
  }
  return false;
}

void ConnectedQueue::on_send_completion(const ibv_wc& completion) {
  if (!is_current(completion)) return;
  ++counters_.placed_tx_completions;
  if (completion.status != IBV_WC_SUCCESS) {
    counters_.placed_tx_errors += completion.status == IBV_WC_WR_FLUSH_ERR ? 0 : 1;
    is_broken_ = true;
    return;  // reset() releases all records at once
  }
  const auto steps = static_cast<std::uint32_t>(completion.wr_id) -
                     static_cast<std::uint32_t>(reclaimed_);  // modulo 2^32
  if (steps < added_ - reclaimed_) reclaimed_ += steps + 1;
}

}  // namespace dlcp::datapath
