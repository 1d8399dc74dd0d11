// What one communicator (NCCL >= 2.28) or, before, the whole process has open: its identity towards
// the core, the engines it uses and how many objects hold them. Connections of a context fail
// together.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/opening.h"
#include "engine/registry.h"
#include "nccl/abi/types.h"
#include "util/result.h"

namespace dlcp::nccl {

class Context {
 public:
  // `until_finalize`: engines are kept until finish(); else until the last object is closed.
  Context(engine::Registry& registry, std::uint64_t comm_id, int communicator_class,
          bool until_finalize);

  // Of the process, for interface versions without contexts; never destroyed.
  static Context& of_process();

  // The process's engines, for whoever has a context.
  engine::Registry& registry() const { return registry_; }
  // Settings and devices, as init found them; an error there makes listen fail. Whoever needs a
  // setting is handed it from here: nobody below asks the process.
  std::shared_ptr<const Result<engine::Setup>> setup() const;
  // Of the process's context, whenever init is called again.
  void take_setup();
  core::ContextId id() const { return id_; }
  std::uint64_t comm_id() const { return comm_id_; }
  // kUndefined where each connection has its own, or the user set none.
  int communicator_class() const { return communicator_class_; }
  // Whether NCCL calls setNetAttr.
  bool tells_attributes() const { return until_finalize_; }
  // Whether it keeps the profiler active.
  bool may_lose() const { return may_lose_.load(); }
  void set_may_lose() { may_lose_.store(true); }
  // For those who look from outside: what it may lose, and why it does not.
  void describe(std::uint32_t budget_ppm, const std::string& exact_because);
  void describe_rank(int rank, int ranks);
  // By what all-reduces go, or why not by direct exchange; `blocks` may be null.
  void describe_all_reduce(const std::string& words,
                           const std::shared_ptr<const engine::BlockTally>& blocks);
  // True the first time that it is asked this.
  bool first_to_say(unsigned topic) { return (said_.fetch_or(1u << topic) >> topic & 1) == 0; }

  // The lanes of a device; the context too holds on to them until nothing is open any more.
  Result<engine::Port> port(int device);

  // All that is open on it fails, as if a connection of it had.
  void fail(const Error& error);

  // Something was opened that uses an engine (listener, connection) ...
  void object_opened();
  // ... and has been closed. Aborted: with work unfinished, or after a failure; nobody will wait.
  // The last one closed after finish() deletes the context.
  void object_closed(bool aborted);

  // A connect that NCCL will ask for again; the ticket goes into its handle, and is good for the
  // listener of that handle alone. What is found stays until it is forgotten.
  std::uint32_t keep_pending(const engine::Opening& opening);
  engine::Opening* find_pending(std::uint32_t ticket, const wire::Invitation& listener);
  void forget_pending(std::uint32_t ticket);

  // Closes what is left pending, waits a bounded time for peers to confirm, and lets go of the
  // engines.
  // False if objects are still open; the last of them to be closed takes the context along.
  bool finish();

 private:
  void release_ports();
  // The description, with mutex_ held.
  void show();
  void show(const engine::Port& port);

  engine::Registry& registry_;
  const core::ContextId id_;
  const std::uint64_t comm_id_;
  const int communicator_class_;
  const bool until_finalize_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Result<engine::Setup>> setup_;
  std::map<int, engine::Port> ports_;
  engine::ContextDescription description_;
  std::map<std::uint32_t, engine::Opening> pending_;  // by ticket
  std::uint32_t next_ticket_;
  int open_objects_ = 0;
  bool aborted_ = false;
  bool finished_ = false;  // NCCL has let go of it
  std::atomic<std::uint32_t> said_{0};
  std::atomic<bool> may_lose_{false};
};

}  // namespace dlcp::nccl
