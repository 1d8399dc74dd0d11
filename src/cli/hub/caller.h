// One TCP connection to a hub, without the socket: what has been heard on it. Until a rank has
// proven that it has a token, nothing that comes changes anything but this.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/hub/tenants.h"
#include "engine/hub_word.h"

namespace dlcp::cli {

class Caller {
 public:
  enum class State {
    kStranger,  // has not said who it is
    kAsks,      // join() waits for an answer
    kSeated,    // belongs to a job
    kLeft,      // says that it leaves
    kRefused,   // has said something wrong: why()
  };

  explicit Caller(const engine::HubChallenge& challenge) : challenge_(challenge) {}

  // What comes first.
  engine::HubFrame challenge() const { return encode(challenge_); }
  State on_bytes(std::span<const std::byte> bytes, const Tenants& tenants);
  // kAsks: lets the rank in, or does not.
  engine::HubFrame answer(const engine::HubAnswer& answer);

  State state() const { return state_; }
  const engine::HubJoin& join() const { return join_; }
  Tenant* tenant() const { return tenant_; }  // null before kAsks
  const std::string& why() const { return why_; }
  // kRefused: what is to be said.
  engine::HubFrame refusal() const;

 private:
  void on_frame(std::span<const std::byte> frame, const Tenants& tenants);
  void refuse(std::string why);

  const engine::HubChallenge challenge_;
  State state_ = State::kStranger;
  std::vector<std::byte> read_;
  engine::HubJoin join_;
  Tenant* tenant_ = nullptr;
  std::string why_;
};

}  // namespace dlcp::cli
