// FakeVerbs with connected queue pairs, RDMA WRITE WITH IMMEDIATE, memory keys and memory windows,
// and a network that loses, doubles, reorders and delays packets. It is as strict as real cards:
// state changes need the right attributes, queues have a limited length, and a region cannot be
// deregistered while a window is bound in it.
//
// A write has two steps: the key is checked, then the bytes are copied. Between them the key may be
// revoked. Deregistration waits for such writes; the end of a bind does so on cards, but not on
// Soft-RoCE (`unbind_waits`).
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "datapath/verbs/fake_verbs.h"
#include "fake_behaviour.h"
#include "queue_states.h"
#include "reliable_queues.h"

namespace dlcp::datapath::test {

class FakeWriteCard : public FakeVerbs, public FakeBehaviour, public ReliableQueues {
 public:
  // The next moment: writes in progress end, then what is due arrives.
  void step() {
    ++now_;
    finish_writes([&](const FakeWrite& write) { return write.finished_at <= now_; });
    repeat(now_);
    while (!network_.empty() && network_.begin()->first <= now_) {
      const FakeWrite write = network_.begin()->second;
      network_.erase(network_.begin());
      arrive(write);
    }
  }
  void drop_network() { network_.clear(); }
  std::size_t in_network() const { return network_.size() + in_progress_.size(); }
  void release_binds() {
    for (const auto& [cq, completion] : std::exchange(held_binds_, {}))
      complete(*cq, completion);
  }
  // The queue pair reports an error for its next request, as if the port were down.
  void break_queue_pair(std::uint32_t number) { queues_.at(number).fails = true; }
  std::set<std::uint32_t> connected_numbers() const {
    std::set<std::uint32_t> numbers;
    for (const auto& [number, queue] : queues_)
      if (queue.remote != 0) numbers.insert(number);
    return numbers;
  }

  int query_device(ibv_context* context, ibv_device_attr* attributes) override {
    FakeVerbs::query_device(context, attributes);
    attributes->max_mw = has_windows ? 64 : 0;
    return 0;
  }
  int query_port(ibv_context*, std::uint8_t, ibv_port_attr* attributes) override {
    *attributes = {};
    attributes->active_mtu = mtu;
    return 0;
  }

  ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) override {
    if ((access & IBV_ACCESS_REMOTE_WRITE) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
      return nullptr;
    if (!has_windows && (access & IBV_ACCESS_MW_BIND) != 0) {
      errno = EOPNOTSUPP;
      return nullptr;
    }
    ibv_mr* mr = FakeVerbs::reg_mr(pd, address, length, access);
    mr->rkey = mr->lkey << 8;
    if ((reuses_keys || shares_keys) && !ended_keys_.empty()) mr->rkey = ended_keys_.take();
    access_[mr] = access;
    if ((access & IBV_ACCESS_REMOTE_WRITE) != 0 && ++writable[mr->rkey] > 0)
      keys_[mr->rkey] = {static_cast<std::byte*>(address), length};
    return mr;
  }
  int dereg_mr(ibv_mr* mr) override {
    if (refuses_dereg && keys_.contains(mr->rkey)) return EIO;
    for (const FakeMw* window : windows_)
      if (window->region == mr) return EBUSY;
    if (dereg_waits) finish_writes([&](const FakeWrite& write) { return write.key == mr->rkey; });
    if (!keys_outlive_regions) keys_.erase(mr->rkey);
    ended_keys_.add(mr->rkey);
    access_.erase(mr);
    return FakeVerbs::dereg_mr(mr);
  }

  ibv_mw* alloc_mw(ibv_pd* pd) override {
    if (!has_windows) return FakeVerbs::alloc_mw(pd);
    auto* window = made(new FakeMw);
    window->type = IBV_MW_TYPE_1;
    window->rkey = 0x80000000u | ++last_window_ << 8;
    if (shares_keys && !ended_keys_.empty()) window->rkey = key_before(ended_keys_.take());
    windows_.insert(window);
    return window;
  }
  int dealloc_mw(ibv_mw* mw) override {
    auto* window = static_cast<FakeMw*>(mw);
    finish_writes([&](const FakeWrite& write) { return write.key == window->rkey; });
    keys_.erase(window->rkey);
    windows_.erase(window);
    if (shares_keys) ended_keys_.add(window->rkey);
    return unmade(window);
  }
  int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) override {
    auto* window = static_cast<FakeMw*>(mw);
    const ibv_mw_bind_info& info = bind->bind_info;
    if (qp->state != IBV_QPS_RTS || qp->qp_type != IBV_QPT_RC || info.mr == nullptr) return EINVAL;
    const int access = access_.at(info.mr);
    const auto* begin = static_cast<const std::byte*>(info.mr->addr);
    const auto* from = reinterpret_cast<const std::byte*>(info.addr);
    ibv_wc completion{};
    completion.wr_id = bind->wr_id;
    completion.opcode = IBV_WC_BIND_MW;
    if ((access & IBV_ACCESS_MW_BIND) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) == 0 ||
        (info.length > 0 && (from < begin || from + info.length > begin + info.mr->length)))
      completion.status = IBV_WC_MW_BIND_ERR;
    if (fails_binds) completion.status = IBV_WC_GENERAL_ERR;
    ++binds;
    if (completion.status == IBV_WC_SUCCESS) {
      if (unbind_waits)
        finish_writes([&](const FakeWrite& write) { return write.key == window->rkey; });
      keys_.erase(window->rkey);
      window->rkey = ibv_inc_rkey(window->rkey);
      window->region = info.length > 0 ? info.mr : nullptr;
      if (info.length > 0 && ++writable[window->rkey] > 0) {
        keys_[window->rkey] = {reinterpret_cast<std::byte*>(info.addr),
                               static_cast<std::size_t>(info.length)};
      }
    }
    auto* cq = static_cast<FakeCq*>(qp->send_cq);
    if (holds_binds)
      held_binds_.push_back({cq, completion});
    else
      complete(*cq, completion);
    return 0;
  }

  ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) override {
    if (attributes->qp_type == IBV_QPT_UC && !has_uc) {
      errno = EOPNOTSUPP;
      return nullptr;
    }
    ibv_qp* qp = FakeVerbs::create_qp(pd, attributes);
    if (qp != nullptr && qp->qp_type != IBV_QPT_UD) queues_[qp->qp_num] = {};
    return qp;
  }
  int destroy_qp(ibv_qp* qp) override {
    queues_.erase(qp->qp_num);
    forget_reliable(qp->qp_num);
    return FakeVerbs::destroy_qp(qp);
  }
  int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) override {
    if (qp->qp_type == IBV_QPT_UD) return 0;
    if (attributes->qp_state == IBV_QPS_RESET && refuses_resets) return EIO;
    if (mask != required_mask(*qp, attributes->qp_state)) return EINVAL;
    if (attributes->qp_state == IBV_QPS_RTR && refuses_to_connect(attributes->dest_qp_num))
      return ETIMEDOUT;
    if (attributes->qp_state == IBV_QPS_RESET) {
      queues_[qp->qp_num] = {};
      forget_reliable(qp->qp_num);
      static_cast<FakeQp*>(qp)->receiving.clear();
      static_cast<FakeQp*>(qp)->buffers.clear();
    }
    if (attributes->qp_state == IBV_QPS_INIT)
      queues_[qp->qp_num].access = attributes->qp_access_flags;
    if (attributes->qp_state == IBV_QPS_RTR) {
      queues_[qp->qp_num].remote = attributes->dest_qp_num;
      queues_[qp->qp_num].label = attributes->ah_attr.grh.flow_label;
      ready.push_back(*attributes);
      if (qp->qp_type == IBV_QPT_RC) set_expected(qp->qp_num, attributes->rq_psn);
    }
    if (attributes->qp_state == IBV_QPS_RTS && qp->qp_type == IBV_QPT_RC)
      set_next(qp->qp_num, *attributes);
    qp->state = attributes->qp_state;
    return 0;
  }
  int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** refused) override {
    std::size_t count = static_cast<FakeQp*>(qp)->receiving.size();
    for (const ibv_recv_wr* each = request; each != nullptr; each = each->next)
      ++count;
    if (refuses_receives || count > static_cast<FakeQp*>(qp)->limits.max_recv_wr) return ENOMEM;
    return FakeVerbs::post_recv(qp, request, refused);
  }
  int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** refused) override {
    if (qp->qp_type == IBV_QPT_UD) return FakeVerbs::post_send(qp, request, refused);
    ++posts;
    Queue& queue = queues_.at(qp->qp_num);
    for (; request != nullptr; request = request->next) {
      if (refuses_posts || qp->state != IBV_QPS_RTS ||
          ++queue.unfinished > static_cast<FakeQp*>(qp)->limits.max_send_wr) {
        *refused = request;
        return ENOMEM;
      }
      send(*static_cast<FakeQp*>(qp), queue, *request);
    }
    return 0;
  }
  int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) override {
    if (steps_on_poll) step();
    if (holds_completions && !static_cast<FakeCq*>(cq)->completions.empty() &&
        static_cast<FakeCq*>(cq)->completions.front().opcode == IBV_WC_RDMA_WRITE)
      return 0;
    const int count = FakeVerbs::poll_cq(cq, entries, completions);
    for (int i = 0; i < count; ++i) {  // a completion frees the requests before it
      const auto found = queues_.find(completions[i].qp_num);
      if (found != queues_.end() && completions[i].opcode == IBV_WC_RDMA_WRITE)
        found->second.unfinished -= std::min(found->second.unfinished, completions[i].vendor_err);
    }
    return count;
  }

 private:
  struct Queue {
    std::uint32_t remote = 0;  // 0: not connected
    unsigned access = 0;
    std::uint32_t label = 0;
    std::uint32_t unfinished = 0;
    std::uint32_t since_signalled = 0;
    bool fails = false;
  };
  struct Range {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
  };

  void read(FakeQp& qp, Queue& queue, const ibv_send_wr& request) {
    const ibv_sge& landing = *request.sg_list;
    const auto* from = reinterpret_cast<const std::byte*>(request.wr.rdma.remote_addr);
    auto* const to = reinterpret_cast<std::byte*>(landing.addr);
    ibv_wc completion{};
    completion.wr_id = request.wr_id;
    completion.qp_num = qp.qp_num;
    completion.opcode = IBV_WC_RDMA_READ;
    const bool is_allowed = (queue.access & IBV_ACCESS_REMOTE_READ) != 0 &&
                            qp.qp_type == IBV_QPT_RC && may_read(access_, request);
    completion.status = is_allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
    if (queue.fails || fails_reads) completion.status = IBV_WC_GENERAL_ERR;
    if (completion.status == IBV_WC_SUCCESS) {
      std::vector<std::byte> bytes(landing.length);
      read_memory(from, bytes);
      write_memory(to, bytes);
    } else {
      qp.state = IBV_QPS_ERR;
    }
    ++reads;
    --queue.unfinished;
    if (holds_reads)
      held_binds_.push_back({static_cast<FakeCq*>(qp.send_cq), completion});
    else
      complete(*static_cast<FakeCq*>(qp.send_cq), completion);
  }

  void send(FakeQp& qp, Queue& queue, const ibv_send_wr& request) {
    if (request.opcode == IBV_WR_RDMA_READ) return read(qp, queue, request);
    FakeQp::Sent gathered;
    for (int i = 0; i < request.num_sge; ++i)
      gather(request.sg_list[i], gathered);
    ibv_wc completion{};
    completion.wr_id = request.wr_id;
    completion.qp_num = qp.qp_num;
    completion.opcode = IBV_WC_RDMA_WRITE;
    completion.status =
        queue.fails || rng.chance(breaks) || gathered.bytes.size() > std::size_t{128} << mtu
            ? IBV_WC_GENERAL_ERR
            : gathered.completion.status;
    ++queue.since_signalled;
    const bool works = completion.status == IBV_WC_SUCCESS;
    const bool is_signalled = (request.send_flags & IBV_SEND_SIGNALED) != 0 || !works;
    // Not used by cards: how many requests this completion frees.
    if (is_signalled) completion.vendor_err = std::exchange(queue.since_signalled, 0);
    FakeWrite write;
    write.to = queue.remote;
    write.address = reinterpret_cast<std::byte*>(request.wr.rdma.remote_addr);
    write.key = request.wr.rdma.rkey;
    write.immediate = request.imm_data;
    write.bytes = gathered.bytes;
    write.from = qp.qp_num;
    if (works && qp.qp_type == IBV_QPT_RC)
      return post(now_, write, is_signalled ? std::optional(completion) : std::nullopt);
    if (works) transmit(write);
    if (!works && qp.qp_type == IBV_QPT_RC) fail_reliable(qp.qp_num, IBV_WC_WR_FLUSH_ERR);
    if (!works) qp.state = IBV_QPS_ERR;
    if (is_signalled) complete(*static_cast<FakeCq*>(qp.send_cq), completion);
  }

  void transmit(const FakeWrite& write) override {
    const auto from = queues_.find(write.from);
    const bool is_dead = from != queues_.end() && dead_labels.contains(from->second.label);
    if (is_dead || rng.chance(loss)) return;
    for (int copies = rng.chance(doubled) ? 2 : 1; copies > 0; --copies) {
      const std::uint64_t delay = rng.below(reordering + 1) + (rng.chance(late) ? lateness : 0);
      if (delay == 0 && !holds_network)
        arrive(write);
      else
        network_.insert({now_ + std::max<std::uint64_t>(delay, 1), write});
    }
  }

  bool accepts(const FakeWrite& write) const {
    const auto key = keys_.find(write.key);
    return key != keys_.end() && write.address >= key->second.begin &&
           write.address + write.bytes.size() <= key->second.begin + key->second.bytes;
  }
  void arrive(const FakeWrite& write) {
    if (write.kind != FakeWrite::Kind::kUnreliable) return on_reliable(now_, write);
    const auto found = queue_pairs_.find(write.to);
    if (found == queue_pairs_.end() || found->second->state < IBV_QPS_RTR ||
        found->second->state > IBV_QPS_RTS)
      ++lost;
    else if (!accepts(write))  // checked before a receive is taken
      refuse(*found->second);
    else if (found->second->receiving.empty())
      ++no_receive;
    else if (copy_steps > 0)
      in_progress_.emplace_back(write).finished_at = now_ + copy_steps;
    else
      finish(write);
  }
  void refuse(FakeQp& qp) {
    ++dead_keys;
    if (!dead_keys_take_receives || qp.receiving.empty()) return;
    ibv_wc completion{};
    completion.wr_id = qp.receiving.front().wr_id;
    completion.status = IBV_WC_REM_ACCESS_ERR;
    qp.receiving.pop_front();
    qp.buffers.pop_front();
    complete(*static_cast<FakeCq*>(qp.recv_cq), completion);
  }
  Verdict take(const FakeWrite& write) override {
    const auto found = queue_pairs_.find(write.to);
    if (!accepts(write)) {
      ++dead_keys;
      return Verdict::kDeadKey;
    }
    if (found->second->receiving.empty()) return Verdict::kNoReceive;
    if (copy_steps > 0)
      in_progress_.emplace_back(write).finished_at = now_ + copy_steps;
    else
      finish(write);
    return Verdict::kTaken;
  }
  void report(std::uint32_t queue_pair, const ibv_wc& completion) override {
    complete(*static_cast<FakeCq*>(queue_pairs_.at(queue_pair)->send_cq), completion);
  }
  // All receives end with it.
  void end(std::uint32_t queue_pair) override {
    FakeQp& qp = *queue_pairs_.at(queue_pair);
    qp.state = IBV_QPS_ERR;
    for (; !qp.receiving.empty(); qp.receiving.pop_front(), qp.buffers.pop_front()) {
      ibv_wc completion{};
      completion.wr_id = qp.receiving.front().wr_id;
      completion.status = IBV_WC_WR_FLUSH_ERR;
      complete(*static_cast<FakeCq*>(qp.recv_cq), completion);
    }
  }
  void finish(const FakeWrite& write) {
    write_memory(write.address, write.bytes);
    ++written;
    const auto found = queue_pairs_.find(write.to);
    if (found == queue_pairs_.end() || found->second->receiving.empty()) return;
    FakeQp& qp = *found->second;
    ibv_wc completion{};
    completion.wr_id = qp.receiving.front().wr_id;
    completion.qp_num = qp.qp_num;
    completion.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    completion.wc_flags = IBV_WC_WITH_IMM;
    completion.imm_data = write.immediate;
    completion.byte_len = static_cast<std::uint32_t>(write.bytes.size());
    qp.receiving.pop_front();
    qp.buffers.pop_front();
    complete(*static_cast<FakeCq*>(qp.recv_cq), completion);
  }
  template <class Matches>
  void finish_writes(const Matches& matches) {
    std::vector<FakeWrite> rest;
    for (const FakeWrite& write : std::exchange(in_progress_, {}))
      if (matches(write))
        finish(write);
      else
        rest.push_back(write);
    in_progress_.insert(in_progress_.begin(), rest.begin(), rest.end());
  }

  std::map<std::uint32_t, Queue> queues_;
  std::map<ibv_mr*, int> access_;
  std::map<std::uint32_t, Range> keys_;
  FakeKeys ended_keys_;
  std::set<FakeMw*> windows_;
  std::uint32_t last_window_ = 0;
  std::multimap<std::uint64_t, FakeWrite> network_;
  std::vector<FakeWrite> in_progress_;
  std::vector<std::pair<FakeCq*, ibv_wc>> held_binds_;
  std::uint64_t now_ = 0;
};

}  // namespace dlcp::datapath::test
