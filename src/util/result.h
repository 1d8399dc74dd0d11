// The result of an operation that can fail during set-up: a value, or an Error that states what
// failed (with the value seen) and what to do. Not used on the packet path: there, "nothing now" is
// a count of 0, and events of the network are counted.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace dlcp {

enum class ErrorCode {
  kInvalidArgument,  // the caller broke the interface's contract
  kInvalidUsage,     // a setting, a size or a pair of peers that cannot work
  kSystem,           // the operating system refused
  kRemote,           // the peer failed, became silent or reset the connection
  kInternal,         // an invariant of DLCP does not hold
};

// For kRemote: whether the peer has ended the connection only by its silence.
enum class PeerFault {
  kNone,
  kSilent,   // nothing arrives from it
  kRejects,  // nothing arrives from it, and its host rejects packets
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string what;  // what failed, with the value seen
  std::string hint;  // what to do; may be empty
  PeerFault fault = PeerFault::kNone;

  std::string message() const { return hint.empty() ? what : what + "; " + hint; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;

}  // namespace dlcp
