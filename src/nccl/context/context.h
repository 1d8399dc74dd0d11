// The state of one communicator: its identity in the core, the engines it uses, and the number of
// objects that use them. Before NCCL 2.28 it belongs to a thread, because each communicator
// connects on a thread of its own, or to a group of the collective plugin. Connections of a context
// fail together.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/devices/registry.h"
#include "engine/opening/opening.h"
#include "nccl/abi/types.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::nccl {

class Context {
 public:
  // How long the context keeps engines. After finish(), which kUntilClosed does not have, and the
  // close of the last object, it is deleted.
  enum class Lifetime : std::uint8_t {
    kThread,         // until the last object is closed; may be used again
    kUntilFinalize,  // until finish()
    kUntilClosed,    // until the last object is closed
  };
  Context(engine::Registry& registry, std::uint64_t comm_id, int communicator_class,
          Lifetime lifetime);

  engine::Registry& registry() const { return registry_; }  // the process's engines
  // Settings and devices as of init; an error in them makes listen fail. Code below this level
  // gets its settings as arguments.
  std::shared_ptr<const Result<engine::Setup>> setup() const;
  // For kThread: called for each further use of the thread.
  void take_setup();
  // With kThread it changes when the last object is closed, so that each use counts from zero.
  core::ContextId id() const { return id_.load(); }
  std::uint64_t comm_id() const { return comm_id_; }
  // kUndefined if each connection has its own class, or if the user set none.
  int communicator_class() const { return communicator_class_; }
  // True if NCCL calls setNetAttr.
  bool provides_attributes() const { return lifetime_ == Lifetime::kUntilFinalize; }
  // True if the context keeps the profiler active.
  bool may_lose() const { return may_lose_.load(); }
  void set_may_lose() { may_lose_.store(true); }
  // For monitoring: the loss budget, and why transfers are exact.
  void describe(std::uint32_t budget_ppm, const std::string& exact_because);
  void describe_rank(int rank, int ranks);
  // The algorithm of all-reduces, or why direct exchange is not used; `blocks` may be null.
  void describe_all_reduce(const std::string& words,
                           const std::shared_ptr<const engine::BlockTally>& blocks);
  // True once an object was opened.
  bool was_used() const { return was_used_.load(std::memory_order_relaxed); }
  // True on the first call with this topic.
  bool first_to_say(unsigned topic) { return (said_.fetch_or(1u << topic) >> topic & 1) == 0; }

  // The lanes of a device; with kFirstLanes at least the first ones. The context also keeps them
  // open until no object uses them any more.
  Result<engine::Port> port(int device,
                            engine::Registry::Extent extent = engine::Registry::Extent::kAllLanes);

  // Fails everything that is open on the context, as if one of its connections had failed.
  void fail(const Error& error);

  // An object that uses an engine (listener, connection) was opened ...
  void object_opened();
  // ... or closed, which may delete the context. `aborted`: with unfinished work or after a
  // failure, so that no peer is waited for.
  void object_closed(bool aborted);

  // Keeps a connect that NCCL will repeat. The ticket is stored in its handle and is valid only
  // with the listener of that handle. With kThread, it is closed if it was not looked for
  // during the peer timeout: NCCL has then aborted its communicator, which it does without a call.
  std::uint32_t keep_pending(const engine::Opening& opening);
  std::shared_ptr<engine::Opening> find_pending(std::uint32_t ticket,
                                                const wire::Invitation& listener);
  void forget_pending(std::uint32_t ticket);

  // The owner uses it no longer: closes pending connections. With the last object, it waits for a
  // bounded time for peers to confirm, releases the engines, and is deleted.
  void finish();

 private:
  struct Pending {
    std::shared_ptr<engine::Opening> opening;
    Time looked_for{};  // the last time
  };
  void release_ports();
  void close_abandoned();
  void drop_references(int count);
  // Updates the description; requires mutex_.
  void show();
  void show(const engine::Port& port);

  engine::Registry& registry_;
  std::atomic<core::ContextId> id_;
  const std::uint64_t comm_id_;
  const int communicator_class_;
  const Lifetime lifetime_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Result<engine::Setup>> setup_;
  std::map<int, engine::Port> ports_;
  std::set<int> partly_open_;  // devices in ports_ of which only the first lanes are open
  engine::ContextDescription description_;
  std::map<std::uint32_t, Pending> pending_;  // by ticket
  std::uint32_t next_ticket_;
  int open_objects_ = 0;
  bool aborted_ = false, finished_ = false;
  std::atomic<int> references_;  // of the owner, of each object, of closes under way
  std::atomic<std::uint32_t> said_{0};
  std::atomic<bool> may_lose_{false};
  std::atomic<bool> was_used_{false};
};

}  // namespace dlcp::nccl
