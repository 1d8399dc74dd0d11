// The places of an endpoint. A place is found by the token in a frame, or by the name of the sender
// until the sender has learnt the token. A released place is used again, but its old token is not
// found any more.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/channel/channel.h"
#include "core/endpoint/party.h"
#include "core/endpoint_types.h"

namespace dlcp::core {

struct Slot {
  std::uint64_t token = 0;  // 0: free
  std::uint32_t index = 0;  // of this place, fixed
  ContextId context = 0;
  Channel channel;  // outlives the connection
  Party party;
  std::uint64_t listener = 0;     // token of the listener that accepted a receiving connection
  std::uint64_t association = 0;  // token of the association of a stream, also after its end
  bool held_by_user = false;      // the user has this connection and has not closed it
  OnSilence on_silence = OnSilence::kFailContext;
  bool is_leaving = false;  // its failure does not concern the context any more
};

// Identifies a receiving connection until its sender knows its token. The sender must have an
// invitation and chooses its token itself.
struct SenderName {
  std::uint64_t token = 0;
  wire::EndpointAddress address;

  friend bool operator==(const SenderName&, const SenderName&) = default;
  struct Hash {
    std::size_t operator()(const SenderName& name) const { return name.token; }
  };
};

class SlotTable {
 public:
  // Tokens are derived from `key` and cannot be predicted without it.
  explicit SlotTable(const wire::Key& key) : key_(key) {}

  // `token` is neither 0 nor in use. References to slots stay valid.
  Slot& add(ContextId context, std::uint64_t token);
  Slot& add(ContextId context) { return add(context, draw_token()); }
  void release(Slot& slot);

  Slot* find(std::uint64_t token) const;  // null: unknown token
  Slot& at(std::uint32_t index) const { return *slots_[index]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }  // of all places
  // Calls `work` for every used place in order; `work` may release places.
  template <class Work>
  void for_each(Work&& work) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i]->token != 0) work(*slots_[i]);
  }
  template <class Holds>
  bool any_of(Holds&& holds) const {
    bool any = false;
    for_each([&](const Slot& slot) { any = any || holds(slot); });
    return any;
  }

  void name(const SenderName& sender, const Slot& slot) { by_sender_[sender] = slot.token; }
  void forget(const SenderName& sender) { by_sender_.erase(sender); }
  Slot* find(const SenderName& sender) const;

 private:
  std::uint64_t draw_token();

  const wire::Key key_;
  std::uint64_t tokens_drawn_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> free_;
  // Tokens are pseudorandom and drawn here, so that a peer cannot make them collide.
  std::unordered_map<std::uint64_t, Slot*> by_token_;
  std::unordered_map<SenderName, std::uint64_t, SenderName::Hash> by_sender_;  // -> local token
};

}  // namespace dlcp::core
