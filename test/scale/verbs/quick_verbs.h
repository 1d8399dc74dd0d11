// The packet path of FakeVerbs without its checks and allocations, for measurements: datagrams, and
// writes with an immediate. The card itself works in advance(), which is not measured.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "datapath/verbs/fake_verbs.h"

namespace dlcp::test {

class QuickVerbs final : public datapath::test::FakeVerbs {
 public:
  int query_port(ibv_context*, std::uint8_t, ibv_port_attr* attributes) override {
    *attributes = {};
    attributes->active_mtu = IBV_MTU_4096;
    return 0;
  }
  ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) override {
    ibv_mr* mr = FakeVerbs::reg_mr(pd, address, length, access);
    mr->rkey = mr->lkey;
    return mr;
  }
  ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) override {
    ibv_qp* qp = FakeVerbs::create_qp(pd, attributes);
    attributes->cap.max_inline_data = 256;
    queues_[qp->qp_num % kNumbers] = {qp, std::vector<ibv_recv_wr>(4096)};
    return qp;
  }
  int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int) override {
    if (attributes->dest_qp_num != 0)
      queues_[qp->qp_num % kNumbers].remote = attributes->dest_qp_num;
    return 0;
  }
  int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) override {
    auto& ring = completions_[cq];
    int count = 0;
    for (; count < entries && ring.begin != ring.end; ++count)
      completions[count] = ring.slots[ring.begin++ % ring.slots.size()];
    return count;
  }
  int post_recv(ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr**) override {
    Queue& queue = queues_[qp->qp_num % kNumbers];
    for (; request != nullptr; request = request->next)
      queue.buffers[queue.posted++ % queue.buffers.size()] = *request;
    return 0;
  }
  int post_send(ibv_qp* qp, ibv_send_wr* request, ibv_send_wr**) override {
    for (; request != nullptr; request = request->next) {
      Sent& sent = sent_[added_++ % sent_.size()];
      sent = {qp, *request, {}};
      std::copy_n(request->sg_list, request->num_sge, sent.pieces.begin());
    }
    return 0;
  }

  // The wire delivers up to `packets` packets.
  void advance(std::size_t packets) {
    for (; packets > 0 && gone_ != added_; --packets) {
      const Sent& sent = sent_[gone_++ % sent_.size()];
      deliver(sent);
      if ((sent.request.send_flags & IBV_SEND_SIGNALED) != 0) {
        ibv_wc done{};
        done.wr_id = sent.request.wr_id;
        complete(sent.qp->send_cq, done);
      }
    }
  }

 private:
  static constexpr std::size_t kNumbers = 256;
  struct Queue {
    ibv_qp* qp = nullptr;
    std::vector<ibv_recv_wr> buffers;
    std::size_t posted = 0, used = 0;
    std::uint32_t remote = 0;  // if connected
  };
  struct Sent {
    ibv_qp* qp = nullptr;
    ibv_send_wr request{};
    std::array<ibv_sge, 2> pieces{};
  };
  struct Ring {
    std::vector<ibv_wc> slots = std::vector<ibv_wc>(8192);
    std::size_t begin = 0, end = 0;
  };

  void complete(ibv_cq* cq, const ibv_wc& completion) {
    Ring& ring = completions_[cq];
    ring.slots[ring.end++ % ring.slots.size()] = completion;
  }
  static std::size_t copy(const Sent& sent, std::byte* to) {
    std::size_t bytes = 0;
    for (int i = 0; i < sent.request.num_sge; ++i) {
      const ibv_sge& piece = sent.pieces[static_cast<std::size_t>(i)];
      std::memcpy(to + bytes, reinterpret_cast<const void*>(piece.addr), piece.length);
      bytes += piece.length;
    }
    return bytes;
  }
  void deliver(const Sent& sent) {
    const ibv_send_wr& request = sent.request;
    const bool is_write = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    Queue& queue =
        queues_[(is_write ? queues_[sent.qp->qp_num % kNumbers].remote : request.wr.ud.remote_qpn) %
                kNumbers];
    if (queue.used == queue.posted) {
      ++lost;
      return;
    }
    const ibv_recv_wr& buffer = queue.buffers[queue.used++ % queue.buffers.size()];
    ibv_wc done{};
    done.wr_id = buffer.wr_id;
    if (is_write) {
      done.byte_len = static_cast<std::uint32_t>(
          copy(sent, reinterpret_cast<std::byte*>(request.wr.rdma.remote_addr)));
      done.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
      done.wc_flags = IBV_WC_WITH_IMM;
      done.imm_data = request.imm_data;
    } else {
      auto* memory = reinterpret_cast<std::byte*>(buffer.sg_list->addr);
      memory[20] = std::byte{0x45};
      memory[21] = std::byte{0x4a};
      done.byte_len = static_cast<std::uint32_t>(40 + copy(sent, memory + 40));
      done.wc_flags = IBV_WC_GRH;
    }
    complete(queue.qp->recv_cq, done);
  }

  std::array<Queue, kNumbers> queues_;
  std::vector<Sent> sent_ = std::vector<Sent>(1 << 14);
  std::size_t added_ = 0, gone_ = 0;
  std::map<ibv_cq*, Ring> completions_;
};

}  // namespace dlcp::test
