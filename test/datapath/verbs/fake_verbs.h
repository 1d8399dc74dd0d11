// A network card in memory for datagrams (fake_write_card.h adds RDMA WRITE), to test cases that
// are rare with a real card: it holds requests back, fails them, refuses calls and disappears. It
// is as strict as real cards: a request may name only registered memory, an address handle only
// while it exists, and no object may be left at the end.
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "datapath/verbs/device/verbs.h"
#include "util/system/fd.h"

namespace dlcp::datapath::test {

struct FakeCq : ibv_cq {
  std::deque<ibv_wc> completions;
  bool wants_event = false;
};

struct FakeAh : ibv_ah {
  ibv_ah_attr attributes{};
};

struct FakeQp : ibv_qp {
  FakeQp() : ibv_qp{} {}
  struct Sent {
    ibv_wc completion{};
    bool is_signalled = false;
    std::vector<std::byte> bytes;
    std::uint32_t to = 0;
    std::uint8_t tos = 0;
    std::uint8_t source = 0;  // index of the GID
  };
  ibv_qp_cap limits{};
  std::deque<Sent> sending;  // posted, not sent yet
  std::deque<ibv_recv_wr> receiving;
  std::deque<ibv_sge> buffers;
};

class FakeVerbs : public Verbs {
 public:
  bool holds = false;          // requests do not leave until release()
  bool refuses_posts = false;  // post_send fails
  bool refuses_handles = false;
  bool refuses_queue_pairs = false;
  bool refuses_regions = false;
  bool has_dma_buf = false;
  bool removed = false;  // from the system, without an event
  bool lacks_gid = false;
  std::size_t posts = 0;
  std::size_t lost = 0;      // to a missing queue pair, or one without a buffer
  std::size_t too_long = 0;  // for the buffer; a real card may then close the queue pair
  std::size_t handles_refused = 0;
  std::vector<ibv_ah_attr> handles_made;
  std::set<ibv_mr*> regions;
  struct DmaBufRange {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    std::uint64_t offset = 0;
    Fd file;
  };
  std::vector<DmaBufRange> dma_bufs;  // all that were registered
  std::set<void*> others;             // live objects of every other kind

  ~FakeVerbs() override = default;

  // Sends all requests that were held back.
  void release() {
    for (const auto& [number, qp] : queue_pairs_)
      while (!qp->sending.empty())
        leave(*qp);
  }
  // Fails all requests that were held back, each with this status.
  void fail_held(ibv_wc_status status) {
    for (const auto& [number, qp] : queue_pairs_) {
      for (auto& sent : qp->sending) {
        sent.completion.status = status;
        complete(*static_cast<FakeCq*>(qp->send_cq), sent.completion);
      }
      qp->sending.clear();
    }
  }
  void report(ibv_event_type type) {
    ibv_async_event event{};
    event.event_type = type;
    events_.push_back(event);
  }
  std::size_t queue_pairs() const { return queue_pairs_.size(); }

  ibv_context* open_device(const std::string&) override {
    auto* context = made(new ibv_context{});
    context->async_fd = eventfd(0, EFD_NONBLOCK);
    return context;
  }
  int close_device(ibv_context* context) override {
    close(context->async_fd);
    return unmade(context);
  }
  int query_device(ibv_context*, ibv_device_attr* attributes) override {
    *attributes = {};
    attributes->max_qp_wr = 4096;
    attributes->max_cqe = 1 << 20;
    attributes->max_ah = 100;
    return 0;
  }
  int query_port(ibv_context*, std::uint8_t, ibv_port_attr* attributes) override {
    *attributes = {};
    attributes->active_mtu = IBV_MTU_1024;
    return 0;
  }
  int get_async_event(ibv_context*, ibv_async_event* event) override {
    if (events_.empty()) {
      errno = EAGAIN;
      return -1;
    }
    *event = events_.front();
    events_.pop_front();
    errno = EAGAIN;
    return 0;
  }
  void ack_async_event(ibv_async_event*) override {}
  bool is_removed(ibv_context*) override { return removed; }
  bool has_gid(ibv_context*, std::uint8_t, int, const ibv_gid&) override { return !lacks_gid; }
  ibv_pd* alloc_pd(ibv_context* context) override {
    auto* pd = made(new ibv_pd{});
    pd->context = context;
    return pd;
  }
  int dealloc_pd(ibv_pd* pd) override { return unmade(pd); }
  ibv_mr* reg_mr(ibv_pd*, void* address, std::size_t length, int) override {
    if (refuses_regions) {
      errno = ENOMEM;
      return nullptr;
    }
    auto* mr = new ibv_mr{};
    mr->addr = address;
    mr->length = length;
    mr->lkey = ++last_key_;
    regions.insert(mr);
    return mr;
  }
  // The card then accesses this range through the file, never through its addresses.
  ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t address,
                        int descriptor, int access) override {
    struct stat file {};
    if (!has_dma_buf || fstat(descriptor, &file) != 0) {
      errno = has_dma_buf ? EBADF : EOPNOTSUPP;
      return nullptr;
    }
    if (offset % 4096 != address % 4096 ||
        offset + length > static_cast<std::uint64_t>(file.st_size)) {
      errno = EINVAL;
      return nullptr;
    }
    ibv_mr* mr = reg_mr(pd, reinterpret_cast<void*>(address), length, access);
    if (mr != nullptr)
      dma_bufs.push_back({address, length, offset, Fd(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))});
    return mr;
  }
  int dereg_mr(ibv_mr* mr) override {
    regions.erase(mr);
    delete mr;
    return 0;
  }
  ibv_mw* alloc_mw(ibv_pd*) override {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  int dealloc_mw(ibv_mw*) override { return EINVAL; }
  int bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) override { return EINVAL; }
  ibv_ah* create_ah(ibv_pd*, ibv_ah_attr* attributes) override {
    if (refuses_handles) {
      ++handles_refused;
      errno = ETIMEDOUT;
      return nullptr;
    }
    auto* ah = made(new FakeAh{});
    ah->attributes = *attributes;
    handles_made.push_back(*attributes);
    return ah;
  }
  int destroy_ah(ibv_ah* ah) override { return unmade(static_cast<FakeAh*>(ah)); }
  ibv_comp_channel* create_comp_channel(ibv_context*) override {
    auto* channel = made(new ibv_comp_channel{});
    channel->fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
    return channel;
  }
  int destroy_comp_channel(ibv_comp_channel* channel) override {
    close(channel->fd);
    return unmade(channel);
  }
  ibv_cq* create_cq(ibv_context*, int, ibv_comp_channel* channel) override {
    auto* cq = made(new FakeCq{});
    cq->channel = channel;
    return cq;
  }
  int destroy_cq(ibv_cq* cq) override { return unmade(static_cast<FakeCq*>(cq)); }
  int req_notify_cq(ibv_cq* cq) override {
    static_cast<FakeCq*>(cq)->wants_event = true;
    return 0;
  }
  int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq) override {
    std::uint64_t count = 0;
    *cq = nullptr;
    return read(channel->fd, &count, sizeof count) == sizeof count ? 0 : -1;
  }
  void ack_cq_events(ibv_cq*, unsigned) override {}
  int poll_cq(ibv_cq* from, int entries, ibv_wc* completions) override {
    auto& waiting = static_cast<FakeCq*>(from)->completions;
    int count = 0;
    for (; count < entries && !waiting.empty(); ++count) {
      completions[count] = waiting.front();
      waiting.pop_front();
    }
    return count;
  }
  ibv_qp* create_qp(ibv_pd*, ibv_qp_init_attr* attributes) override {
    if (refuses_queue_pairs) {
      errno = EIO;
      return nullptr;
    }
    auto* qp = made(new FakeQp);
    qp->qp_type = attributes->qp_type;
    qp->qp_num = ++last_number_;
    qp->send_cq = attributes->send_cq;
    qp->recv_cq = attributes->recv_cq;
    attributes->cap.max_inline_data = 0;
    qp->limits = attributes->cap;
    queue_pairs_[qp->qp_num] = qp;
    return qp;
  }
  int modify_qp(ibv_qp*, ibv_qp_attr*, int) override { return 0; }
  int destroy_qp(ibv_qp* qp) override {
    queue_pairs_.erase(qp->qp_num);
    return unmade(static_cast<FakeQp*>(qp));
  }
  int post_send(ibv_qp* to, ibv_send_wr* request, ibv_send_wr** refused) override {
    ++posts;
    if (refuses_posts) {
      *refused = request;
      return ENOMEM;
    }
    auto& qp = *static_cast<FakeQp*>(to);
    for (; request != nullptr; request = request->next) {
      FakeQp::Sent sent;
      sent.completion.wr_id = request->wr_id;
      sent.completion.qp_num = qp.qp_num;
      sent.is_signalled = (request->send_flags & IBV_SEND_SIGNALED) != 0;
      sent.to = request->wr.ud.remote_qpn;
      if (others.contains(static_cast<FakeAh*>(request->wr.ud.ah)))
        note_header(static_cast<FakeAh*>(request->wr.ud.ah)->attributes.grh, sent);
      else
        sent.completion.status = IBV_WC_LOC_QP_OP_ERR;
      for (int i = 0; i < request->num_sge; ++i)
        gather(request->sg_list[i], sent);
      qp.sending.push_back(std::move(sent));
    }
    while (!holds && !qp.sending.empty())
      leave(qp);
    return 0;
  }
  int post_recv(ibv_qp* to, ibv_recv_wr* request, ibv_recv_wr**) override {
    auto& qp = *static_cast<FakeQp*>(to);
    for (; request != nullptr; request = request->next) {
      qp.receiving.push_back(*request);
      qp.buffers.push_back(request->num_sge > 0 ? *request->sg_list : ibv_sge{});
    }
    return 0;
  }

 protected:
  template <class Object>
  Object* made(Object* object) {
    others.insert(object);
    return object;
  }
  template <class Object>
  int unmade(Object* object) {
    others.erase(object);
    delete object;
    return 0;
  }

  static void complete(FakeCq& cq, const ibv_wc& completion) {
    cq.completions.push_back(completion);
    if (cq.wants_event && cq.channel != nullptr) {
      cq.wants_event = false;
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto put = write(cq.channel->fd, &one, sizeof one);
    }
  }

  const DmaBufRange* dma_buf_of(const std::byte* at) const {
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(at)};
    for (const DmaBufRange& range : dma_bufs)
      if (address >= range.address && address < range.address + range.bytes) return &range;
    return nullptr;
  }
  static off_t place_in(const DmaBufRange& range, const std::byte* at) {
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(at)};
    return static_cast<off_t>(address - range.address + range.offset);
  }
  void read_memory(const std::byte* from, std::span<std::byte> to) const {
    if (const DmaBufRange* range = dma_buf_of(from)) [[maybe_unused]]
      const auto got = pread(range->file.get(), to.data(), to.size(), place_in(*range, from));
    else
      std::copy(from, from + to.size(), to.begin());
  }
  void write_memory(std::byte* to, std::span<const std::byte> from) const {
    if (const DmaBufRange* range = dma_buf_of(to)) [[maybe_unused]]
      const auto put = pwrite(range->file.get(), from.data(), from.size(), place_in(*range, to));
    else
      std::copy(from.begin(), from.end(), to);
  }

  void gather(const ibv_sge& piece, FakeQp::Sent& sent) const {
    const auto* begin = reinterpret_cast<const std::byte*>(piece.addr);
    for (const ibv_mr* mr : regions) {
      const auto* from = static_cast<const std::byte*>(mr->addr);
      if (mr->lkey == piece.lkey && begin >= from && begin + piece.length <= from + mr->length) {
        const std::size_t before = sent.bytes.size();
        sent.bytes.resize(before + piece.length);
        read_memory(begin, std::span(sent.bytes).subspan(before));
        return;
      }
    }
    sent.completion.status = IBV_WC_LOC_PROT_ERR;
  }

  std::map<std::uint32_t, FakeQp*> queue_pairs_;

 private:
  static void note_header(const ibv_global_route& header, FakeQp::Sent& sent) {
    sent.tos = header.traffic_class;
    sent.source = header.sgid_index;
  }

  void leave(FakeQp& qp) {
    const FakeQp::Sent sent = std::move(qp.sending.front());
    qp.sending.pop_front();
    if (sent.completion.status == IBV_WC_SUCCESS) arrive(sent);
    if (sent.is_signalled || sent.completion.status != IBV_WC_SUCCESS)
      complete(*static_cast<FakeCq*>(qp.send_cq), sent.completion);
  }

  void arrive(const FakeQp::Sent& sent) {
    const auto found = queue_pairs_.find(sent.to);
    if (found == queue_pairs_.end() || found->second->receiving.empty()) {
      ++lost;
      return;
    }
    FakeQp& qp = *found->second;
    if (40 + sent.bytes.size() > qp.buffers.front().length) {
      ++too_long;
      return;
    }
    auto* memory = reinterpret_cast<std::byte*>(qp.buffers.front().addr);
    std::memset(memory, 0xee, 40);
    memory[20] = std::byte{0x45};
    memory[21] = std::byte{sent.tos};
    if (sent.source != 0) {  // GID i has the address 10.0.0.i
      const std::array source{std::byte{10}, std::byte{0}, std::byte{0}, std::byte{sent.source}};
      std::ranges::copy(source, memory + 32);
    }
    std::memcpy(memory + 40, sent.bytes.data(), sent.bytes.size());
    ibv_wc completion{};
    completion.wr_id = qp.receiving.front().wr_id;
    completion.opcode = IBV_WC_RECV;
    completion.wc_flags = IBV_WC_GRH;
    completion.byte_len = static_cast<std::uint32_t>(40 + sent.bytes.size());
    qp.receiving.pop_front();
    qp.buffers.pop_front();
    complete(*static_cast<FakeCq*>(qp.recv_cq), completion);
  }

  std::deque<ibv_async_event> events_;
  std::uint32_t last_number_ = 16;
  std::uint32_t last_key_ = 0;
};

}  // namespace dlcp::datapath::test
