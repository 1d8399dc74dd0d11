// Invariants of DLCP's code, which hold whatever the network, the peer or the application does. A
// broken invariant is a bug, and the plugin runs inside a training process: check() throws, and
// core::Endpoint catches the exception and closes the affected connection with an internal error
// that names the invariant. The process is not aborted, and no work continues with impossible
// values. A unit test receives the exception itself; in the simulator a connection that closes this
// way is a violation.
//
// Not for external input (a packet, a setting, an argument): that is validated where it enters. Not
// in destructors, which may run while the exception of another broken invariant propagates.
#pragma once

#include <exception>

namespace dlcp {

class BrokenInvariant : public std::exception {
 public:
  // `invariant`: a statement with static storage, such as "only packets in flight are settled".
  explicit BrokenInvariant(const char* invariant) : invariant_(invariant) {}
  const char* what() const noexcept override { return invariant_; }

 private:
  const char* invariant_;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void broken(const char* invariant) {
  throw BrokenInvariant(invariant);
}

inline void check(bool holds, const char* invariant) {
  if (!holds) [[unlikely]]
    broken(invariant);
}

}  // namespace dlcp
