// Loads libibverbs at run time, because the plugin must also load on hosts without it. Calls on the
// packet path use the driver's own table, as rdma-core's inline functions do.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "datapath/verbs/device/verbs.h"
#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

constexpr const char* kLibrary = "libibverbs.so.1";
constexpr int kOptionalAccess = static_cast<int>(IBV_ACCESS_OPTIONAL_RANGE);

// The functions that the library exports, by name. ibv_reg_mr and ibv_query_port are macros in its
// header, so their types are written out.
struct Functions {
  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  ibv_context* (*open_device)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  int (*fork_init)() = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*) = nullptr;
  int (*query_gid)(ibv_context*, std::uint8_t, int, ibv_gid*) = nullptr;
  int (*get_async_event)(ibv_context*, ibv_async_event*) = nullptr;
  void (*ack_async_event)(ibv_async_event*) = nullptr;
  ibv_pd* (*alloc_pd)(ibv_context*) = nullptr;
  int (*dealloc_pd)(ibv_pd*) = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
  // Null in older libraries.
  ibv_mr* (*reg_mr_iova2)(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) = nullptr;
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) = nullptr;
  int (*dereg_mr)(ibv_mr*) = nullptr;
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*) = nullptr;
  int (*destroy_ah)(ibv_ah*) = nullptr;
  ibv_comp_channel* (*create_comp_channel)(ibv_context*) = nullptr;
  int (*destroy_comp_channel)(ibv_comp_channel*) = nullptr;
  ibv_cq* (*create_cq)(ibv_context*, int, void*, ibv_comp_channel*, int) = nullptr;
  int (*destroy_cq)(ibv_cq*) = nullptr;
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**) = nullptr;
  void (*ack_cq_events)(ibv_cq*, unsigned) = nullptr;
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*) = nullptr;
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int) = nullptr;
  int (*destroy_qp)(ibv_qp*) = nullptr;
};

// Returns the first missing name, or nullptr if there is none.
const char* look_up(void* library, Functions& f) {
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find("ibv_get_device_list", f.get_device_list);
  find("ibv_free_device_list", f.free_device_list);
  find("ibv_get_device_name", f.get_device_name);
  find("ibv_open_device", f.open_device);
  find("ibv_close_device", f.close_device);
  find("ibv_fork_init", f.fork_init);
  find("ibv_query_device", f.query_device);
  find("ibv_query_port", f.query_port);
  find("ibv_query_gid", f.query_gid);
  find("ibv_get_async_event", f.get_async_event);
  find("ibv_ack_async_event", f.ack_async_event);
  find("ibv_alloc_pd", f.alloc_pd);
  find("ibv_dealloc_pd", f.dealloc_pd);
  find("ibv_reg_mr", f.reg_mr);
  find("ibv_dereg_mr", f.dereg_mr);
  find("ibv_create_ah", f.create_ah);
  find("ibv_destroy_ah", f.destroy_ah);
  find("ibv_create_comp_channel", f.create_comp_channel);
  find("ibv_destroy_comp_channel", f.destroy_comp_channel);
  find("ibv_create_cq", f.create_cq);
  find("ibv_destroy_cq", f.destroy_cq);
  find("ibv_get_cq_event", f.get_cq_event);
  find("ibv_ack_cq_events", f.ack_cq_events);
  find("ibv_create_qp", f.create_qp);
  find("ibv_modify_qp", f.modify_qp);
  find("ibv_destroy_qp", f.destroy_qp);
  const char* const required = missing;
  find("ibv_reg_mr_iova2", f.reg_mr_iova2);
  find("ibv_reg_dmabuf_mr", f.reg_dmabuf_mr);
  return required;
}

class LibraryVerbs final : public Verbs {
 public:
  explicit LibraryVerbs(const Functions& functions) : f_(functions) {}

  ibv_context* open_device(const std::string& name) override {
    int count = 0;
    ibv_device** list = f_.get_device_list(&count);
    if (list == nullptr) return nullptr;
    ibv_context* context = nullptr;
    errno = ENODEV;  // if no device has the name
    for (int i = 0; i < count && context == nullptr; ++i)
      if (name == f_.get_device_name(list[i])) context = f_.open_device(list[i]);
    const int error = errno;
    f_.free_device_list(list);
    errno = error;
    return context;
  }
  int close_device(ibv_context* context) override { return f_.close_device(context); }
  int query_device(ibv_context* context, ibv_device_attr* attributes) override {
    return f_.query_device(context, attributes);
  }
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) override {
    *attributes = {};  // the exported function only sets the fields of the oldest header
    return f_.query_port(context, port, attributes);
  }
  int get_async_event(ibv_context* context, ibv_async_event* event) override {
    return f_.get_async_event(context, event);
  }
  void ack_async_event(ibv_async_event* event) override { f_.ack_async_event(event); }

  bool is_removed(ibv_context* context) override {
    return ::access(context->device->dev_path, F_OK) != 0 && errno == ENOENT;
  }
  bool has_gid(ibv_context* context, std::uint8_t port, int index, const ibv_gid& gid) override {
    ibv_gid found{};
    return f_.query_gid(context, port, index, &found) == 0 &&
           std::equal(std::begin(found.raw), std::end(found.raw), gid.raw);
  }

  ibv_pd* alloc_pd(ibv_context* context) override { return f_.alloc_pd(context); }
  int dealloc_pd(ibv_pd* pd) override { return f_.dealloc_pd(pd); }
  ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) override {
    const int optional = access & kOptionalAccess;
    if (optional != 0 && f_.reg_mr_iova2 != nullptr) {
      return f_.reg_mr_iova2(pd, address, length, reinterpret_cast<std::uintptr_t>(address),
                             static_cast<unsigned>(access));
    }
    return f_.reg_mr(pd, address, length, access & ~optional);
  }
  ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t address,
                        int descriptor, int access) override {
    if (f_.reg_dmabuf_mr != nullptr)
      return f_.reg_dmabuf_mr(pd, offset, length, address, descriptor, access);
    errno = EOPNOTSUPP;
    return nullptr;
  }
  int dereg_mr(ibv_mr* mr) override { return f_.dereg_mr(mr); }
  ibv_mw* alloc_mw(ibv_pd* pd) override { return ibv_alloc_mw(pd, IBV_MW_TYPE_1); }
  int dealloc_mw(ibv_mw* mw) override { return ibv_dealloc_mw(mw); }
  int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) override {
    return ibv_bind_mw(qp, mw, bind);
  }
  ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) override {
    return f_.create_ah(pd, attributes);
  }
  int destroy_ah(ibv_ah* ah) override { return f_.destroy_ah(ah); }

  ibv_comp_channel* create_comp_channel(ibv_context* context) override {
    return f_.create_comp_channel(context);
  }
  int destroy_comp_channel(ibv_comp_channel* channel) override {
    return f_.destroy_comp_channel(channel);
  }
  ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) override {
    return f_.create_cq(context, entries, nullptr, channel, 0);
  }
  int destroy_cq(ibv_cq* cq) override { return f_.destroy_cq(cq); }
  int req_notify_cq(ibv_cq* cq) override { return cq->context->ops.req_notify_cq(cq, 0); }
  int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq) override {
    void* ours = nullptr;
    return f_.get_cq_event(channel, cq, &ours);
  }
  void ack_cq_events(ibv_cq* cq, unsigned count) override { f_.ack_cq_events(cq, count); }
  int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) override {
    return cq->context->ops.poll_cq(cq, entries, completions);
  }

  ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) override {
    return f_.create_qp(pd, attributes);
  }
  int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) override {
    return f_.modify_qp(qp, attributes, mask);
  }
  int destroy_qp(ibv_qp* qp) override { return f_.destroy_qp(qp); }
  int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** refused) override {
    return qp->context->ops.post_send(qp, requests, refused);
  }
  int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** refused) override {
    return qp->context->ops.post_recv(qp, requests, refused);
  }

 private:
  const Functions f_;
};

Result<std::shared_ptr<Verbs>> load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed: it may have threads
  if (library == nullptr) {
    return Error{ErrorCode::kSystem, fmt::format("{} cannot be loaded: {}", kLibrary, ::dlerror()),
                 "install rdma-core (apt-get install libibverbs1 ibverbs-providers)"};
  }
  Functions functions;
  if (const char* missing = look_up(library, functions); missing != nullptr) {
    return Error{ErrorCode::kSystem, fmt::format("{} has no {}", kLibrary, missing),
                 "install a newer rdma-core"};
  }
  // Keeps the pages that the card accesses with this process if it forks (copy-on-write). Does
  // nothing if the kernel ensures that.
  if (const int error = functions.fork_init(); error != 0) {
    return Error{ErrorCode::kSystem,
                 fmt::format("memory cannot be protected from fork: {}", system_text(error)), ""};
  }
  return std::shared_ptr<Verbs>(std::make_shared<LibraryVerbs>(functions));
}

}  // namespace

Result<std::shared_ptr<Verbs>> verbs_library() {
  static const auto* const loaded = new Result<std::shared_ptr<Verbs>>(load());
  return *loaded;
}

}  // namespace dlcp::datapath
