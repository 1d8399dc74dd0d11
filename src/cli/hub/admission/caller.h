// One TCP connection to a hub, without the socket: the state of its conversation. Until a rank has
// proven that it has a token, received bytes change only this object.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/hub/tenants.h"
#include "engine/hub/hub_word.h"

namespace dlcp::cli {

class Caller {
 public:
  enum class State {
    kStranger,  // has not identified itself
    kAsks,      // join() waits for an answer
    kSeated,    // belongs to a job
    kLeft,      // has announced that it leaves
    kRefused,   // has sent something invalid: why()
  };

  explicit Caller(const engine::HubChallenge& challenge) : challenge_(challenge) {}

  // The first frame to send.
  engine::HubFrame challenge() const { return encode(challenge_); }
  State on_bytes(std::span<const std::byte> bytes, const Tenants& tenants);
  // kAsks: accepts or refuses the rank.
  engine::HubFrame answer(const engine::HubAnswer& answer);

  State state() const { return state_; }
  const engine::HubJoin& join() const { return join_; }
  Tenant* tenant() const { return tenant_; }  // null before kAsks
  const std::string& why() const { return why_; }
  // kRefused: the frame to send.
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
