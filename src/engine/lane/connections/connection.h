// The engine's state of one NCCL sendComm or recvComm: the core's identifiers and the table of
// outstanding requests. Everything except the atomics is protected by the engine's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "engine/lane/connections/copies.h"
#include "util/result.h"

namespace dlcp::engine {

class Engine;
struct Connection;

// Memory of one message, and the caller's handle of the registration that contains it.
struct Memory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  const void* registration = nullptr;
  core::MemoryKind kind = core::MemoryKind::kHost;
};

// One isend or irecv. `state` synchronises the thread that completes a request with the one that
// tests it: `outcome` is written before `state` and read after it.
struct Request {
  enum class State : std::uint8_t { kFree, kPending, kDone, kFailed };
  struct Outcome {
    std::size_t bytes = 0;         // of the message
    std::size_t lost = 0;          // of these, lost and replaced by zeros; receives only
    std::vector<ByteRange> holes;  // the lost ranges
  };

  std::atomic<State> state{State::kFree};
  core::RequestId name = 0;  // identifies this use of the slot
  Outcome outcome;           // once done
  Time posted_at{};
  core::Licence licence;
  bool waited_for = true;  // the connection's value when the request was posted
  // Engine::departure_ with which the message leaves; 0: it has left.
  std::uint32_t leaves_with = 0;
  std::span<const std::byte> memory;
  const void* registration = nullptr;  // the caller's handle of the registered memory; may be null
  Connection* connection = nullptr;
};

struct Connection {
  explicit Connection(CopyMemory& memory) : copies(memory) {}

  static constexpr std::size_t kRequestsMax = 64;  // NCCL has at most 32 outstanding

  Engine* engine = nullptr;
  core::ConnectionId id = 0;
  core::ContextId context = 0;
  bool sends = false;
  bool waited_for = true;        // callers poll its requests; false for a group's connections
  wire::Membership membership;   // on a receiving connection: as its sender stated
  std::vector<Engine*> beside;   // the engines of the other lanes of the bundle
  std::deque<Request> requests;  // grows to the largest number outstanding at once; never shrinks
  std::size_t next_slot = 0;
  Copies copies;        // of sent messages, until they have arrived
  bool leaves = false;  // its caller has closed it; it ends when the copies have arrived
  std::atomic<bool> failed{false};
  Error error;               // written before `failed`
  bool ended_alone = false;  // written before `failed`: an attempt that was not answered
  // The last collective that lost something on this connection, and its lost contributions so far.
  std::uint64_t lossy_collective = 0;
  std::uint64_t contributions_lost = 0;

  // Drives a step of another lane while another thread drives this one, so that the caller's time
  // is used.
  void drive_beside() const;
  // Returns a free slot under a new name, or nullptr if all are in use.
  Request* free_slot();
  // Returns nullptr if the slot is now used under another name.
  Request* find(core::RequestId name);
  // True if a pending request uses this registration. Requests of another registration that
  // overlaps it do not count, because NCCL may register the same memory several times.
  bool uses(const Memory& registered) const;
  // Contributions that the request's collective has lost on this connection, including this
  // request's.
  void count_lost(const core::Licence& licence, std::size_t bytes);
  // Fails all pending requests. Later ones are rejected with the same error.
  void fail(const Error& reason);
};

}  // namespace dlcp::engine
