// The calls of libibverbs that the datapath uses, as an interface. The library is loaded at run
// time (verbs_library.cc), and tests substitute a simulated card. Semantics, arguments and results
// are those of the ibv_ functions of the same names: on failure, functions that return a pointer
// return nullptr, and functions that return int return a negative number or an errno.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "util/result.h"

namespace dlcp::datapath {

class Verbs {
 public:
  virtual ~Verbs() = default;

  virtual ibv_context* open_device(const std::string& name) = 0;
  virtual int close_device(ibv_context* context) = 0;
  virtual int query_device(ibv_context* context, ibv_device_attr* attributes) = 0;
  virtual int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) = 0;
  virtual int get_async_event(ibv_context* context, ibv_async_event* event) = 0;
  virtual void ack_async_event(ibv_async_event* event) = 0;
  // True if the kernel has removed the device. Not every driver sends an event for that: Soft-RoCE
  // continues to work, and the removal blocks until the last context is closed.
  virtual bool is_removed(ibv_context* context) = 0;
  // True if this entry of the port's GID table has this value. The address may have been removed.
  virtual bool has_gid(ibv_context* context, std::uint8_t port, int index, const ibv_gid& gid) = 0;

  virtual ibv_pd* alloc_pd(ibv_context* context) = 0;
  virtual int dealloc_pd(ibv_pd* pd) = 0;
  // `access` may contain IBV_ACCESS_RELAXED_ORDERING, which has no effect if the library or the
  // kernel does not know it.
  virtual ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) = 0;
  // Registers `length` bytes at `offset` of a dma-buf under the addresses from `address`. nullptr
  // with EOPNOTSUPP if the library, the kernel or the driver cannot.
  virtual ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length,
                                std::uint64_t address, int descriptor, int access) = 0;
  virtual int dereg_mr(ibv_mr* mr) = 0;
  // Memory windows of type 1.
  virtual ibv_mw* alloc_mw(ibv_pd* pd) = 0;
  virtual int dealloc_mw(ibv_mw* mw) = 0;
  virtual int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) = 0;
  virtual ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) = 0;
  virtual int destroy_ah(ibv_ah* ah) = 0;

  virtual ibv_comp_channel* create_comp_channel(ibv_context* context) = 0;
  virtual int destroy_comp_channel(ibv_comp_channel* channel) = 0;
  virtual ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) = 0;
  virtual int destroy_cq(ibv_cq* cq) = 0;
  virtual int req_notify_cq(ibv_cq* cq) = 0;
  virtual int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq) = 0;
  virtual void ack_cq_events(ibv_cq* cq, unsigned count) = 0;
  virtual int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) = 0;

  virtual ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) = 0;
  virtual int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) = 0;
  virtual int destroy_qp(ibv_qp* qp) = 0;
  virtual int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** refused) = 0;
  virtual int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** refused) = 0;
};

// The installed libibverbs, loaded once and kept until the process ends. An error if it is missing,
// too old or lacks permissions.
Result<std::shared_ptr<Verbs>> verbs_library();

// Destroys an object with the same Verbs that created it.
template <class Object, int (Verbs::*unmake)(Object*)>
struct VerbsDeleter {
  Verbs* verbs = nullptr;
  void operator()(Object* object) const { (verbs->*unmake)(object); }
};
template <class Object, int (Verbs::*unmake)(Object*)>
using VerbsPtr = std::unique_ptr<Object, VerbsDeleter<Object, unmake>>;

using ContextPtr = VerbsPtr<ibv_context, &Verbs::close_device>;
using PdPtr = VerbsPtr<ibv_pd, &Verbs::dealloc_pd>;
using MrPtr = VerbsPtr<ibv_mr, &Verbs::dereg_mr>;
using MwPtr = VerbsPtr<ibv_mw, &Verbs::dealloc_mw>;
using AhPtr = VerbsPtr<ibv_ah, &Verbs::destroy_ah>;
using ChannelPtr = VerbsPtr<ibv_comp_channel, &Verbs::destroy_comp_channel>;
using CqPtr = VerbsPtr<ibv_cq, &Verbs::destroy_cq>;
using QpPtr = VerbsPtr<ibv_qp, &Verbs::destroy_qp>;

}  // namespace dlcp::datapath
