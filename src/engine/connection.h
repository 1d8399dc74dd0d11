// One NCCL sendComm or recvComm as the engine keeps it: the core's name for it, and the table of
// outstanding requests. Everything but the atomics belongs to whoever holds the engine's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/endpoint.h"
#include "util/result.h"

namespace dlcp::engine {

class Engine;
struct Connection;

// Memory of one message, and the caller's name for the registration it belongs to.
struct Memory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  const void* registration = nullptr;
};

// One isend or irecv. `state` alone passes between the thread that completes a request and the one
// that tests it; `outcome` is written before it and read after it.
struct Request {
  enum class State : std::uint8_t { kFree, kPending, kDone, kFailed };
  struct Outcome {
    std::size_t bytes = 0;         // of the message
    std::size_t lost = 0;          // of them, zeros in the place of what was lost; receives only
    std::vector<ByteRange> holes;  // where they are
  };

  std::atomic<State> state{State::kFree};
  core::RequestId name = 0;  // of this use of the slot
  Outcome outcome;           // once done
  Time posted_at{};
  core::Licence licence;
  bool waited_for = true;  // as the connection's when it was posted
  std::span<const std::byte> memory;
  const void* registration = nullptr;  // the caller's name for the registered memory; may be null
  Connection* connection = nullptr;
};

struct Connection {
  static constexpr std::size_t kRequestsMax = 64;  // NCCL has at most 32 outstanding

  Engine* engine = nullptr;
  core::ConnectionId id = 0;
  core::ContextId context = 0;
  bool sends = false;
  bool waited_for = true;  // requests, by who polls: not a group's, whose callers wait for calls
  wire::Membership membership;   // as its sender has said; of a receiving one
  std::vector<Engine*> beside;   // on other lanes, of the same bundle
  std::deque<Request> requests;  // grows to what has been outstanding at once; never shrinks
  std::size_t next_slot = 0;
  std::atomic<bool> failed{false};
  Error error;  // written before `failed`
  // Of the last collective that lost something here: its number, and contributions lost so far.
  std::uint64_t lossy_collective = 0;
  std::uint64_t contributions_lost = 0;

  // A step of another lane, where this one's is being taken by somebody: a caller has time.
  void drive_beside() const;
  // A free slot under a new name, or nullptr when all are in use.
  Request* free_slot();
  // nullptr for a name whose slot has moved on.
  Request* find(core::RequestId name);
  // Whether a pending request lies in the registered memory: those of another registration that
  // overlaps it do not count, as NCCL registers what is registered already.
  bool uses(const Memory& registered) const;
  // Contributions that the request's collective has lost here, those of this request included.
  void count_lost(const core::Licence& licence, std::size_t bytes);
  // Every pending request fails; later ones are refused with the same error.
  void fail(const Error& reason);
};

}  // namespace dlcp::engine
