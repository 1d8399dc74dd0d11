// The common part of both sides of a stream: its names, what it expects of the peer, and the error
// that ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/config.h"
#include "core/counters.h"
#include "core/liveness/liveness.h"
#include "core/liveness/peer_errors.h"
#include "util/result.h"
#include "wire/frames/control_frame.h"

namespace dlcp::core {

class Stream {
 public:
  Stream(const Stream&) = delete;  // the association refers to it
  Stream& operator=(const Stream&) = delete;

  std::uint64_t token() const { return token_; }    // the peer sends frames to it
  std::uint32_t number() const { return number_; }  // within the association
  Counters& counters() const { return counters_; }
  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  bool peer_closed() const { return peer_closed_; }
  void on_reset(const wire::Reset& reset) { fail(peer_gave_up(reset)); }

 protected:
  Stream(const Config& config, Counters& counters, std::uint64_t token, std::uint32_t number = 0)
      : config_(config),
        counters_(counters),
        token_(token),
        number_(number),
        liveness_(config.peer_timeout) {}
  ~Stream() = default;

  void fail(Error error) {  // the first error counts
    if (!error_) error_ = std::move(error);
  }

  const Config& config_;
  Counters& counters_;
  const std::uint64_t token_;
  std::uint32_t number_;  // the sender chooses it
  Liveness liveness_;
  bool peer_closed_ = false;

 private:
  std::optional<Error> error_;
};

}  // namespace dlcp::core
