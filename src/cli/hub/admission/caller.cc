#include "cli/hub/admission/caller.h"

#include <algorithm>

namespace dlcp::cli {

Caller::State Caller::on_bytes(std::span<const std::byte> bytes, const Tenants& tenants) {
  if (state_ == State::kSeated) {
    const bool leaves = bytes.size() == 1 && bytes[0] == engine::kHubLeave;
    leaves ? void(state_ = State::kLeft)
           : refuse("unexpected bytes from a rank whose job has begun");
    return state_;
  }
  if (state_ != State::kStranger) return state_;
  if (read_.size() + bytes.size() > engine::kHubFrameBytesMax) {
    refuse("the request is longer than any request of a rank");
    return state_;
  }
  read_.insert(read_.end(), bytes.begin(), bytes.end());
  const auto frame = engine::hub_frame_bytes(read_);
  if (frame && *frame == 0)
    refuse("not a request of a rank of this DLCP version");
  else if (frame && read_.size() > *frame)
    refuse("the request is followed by unexpected bytes");
  else if (frame && read_.size() == *frame)
    on_frame(read_, tenants);
  return state_;
}

void Caller::on_frame(std::span<const std::byte> frame, const Tenants& tenants) {
  std::optional<Error> error;
  for (const auto& tenant : tenants) {
    auto join = decode_hub_join(frame, challenge_, tenant->token);
    if (join) {
      join_ = std::move(join).value();
      tenant_ = tenant.get();
      state_ = State::kAsks;
      read_.clear();
      return;
    }
    error = join.error();
    if (error->code != ErrorCode::kInvalidUsage) break;  // does not depend on the token
  }
  refuse(error->code == ErrorCode::kInvalidUsage
             ? "wrong token (DLCP_HUB_TOKEN_FILE of the rank, --token-file of the hub)"
             : error->what);
}

engine::HubFrame Caller::answer(const engine::HubAnswer& answer) {
  if (answer.refusal.empty())
    state_ = State::kSeated;
  else
    refuse(answer.refusal);
  return encode(answer, challenge_, tenant_->token);
}

void Caller::refuse(std::string why) {
  state_ = State::kRefused;
  why_ = std::move(why);
}

engine::HubFrame Caller::refusal() const {
  return encode(engine::HubAnswer{why_, {}}, challenge_, tenant_ ? tenant_->token : wire::Key{});
}

}  // namespace dlcp::cli
