// Invariants of our own code: what holds whatever the network, the peer or the application does. A
// breach is a bug, and we are guests in somebody's training process: it throws, core::Endpoint
// catches it and closes the connection that it is of, with an internal error that names the
// invariant. Nothing is aborted, and nothing goes on with numbers that cannot be. A unit test sees
// the exception itself; in the simulated world a connection that closes so is a violation.
//
// Not for what comes from outside (a packet, a setting, an argument): that is checked and refused
// where it comes in. Not in destructors, which may run while the exception of another breach is on
// its way.
#pragma once

#include <exception>

namespace dlcp {

class BrokenInvariant : public std::exception {
 public:
  // `invariant`: a statement with static storage, such as "only what is in flight is settled".
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
