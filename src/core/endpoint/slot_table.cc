#include "core/endpoint/slot_table.h"

namespace dlcp::core {

// A 64-bit token cannot be guessed, and two connections hardly ever draw the same.
std::uint64_t SlotTable::draw_token() {
  for (;;) {
    const std::uint64_t token = wire::draw(key_, ++tokens_drawn_);
    if (token != 0 && !by_token_.contains(token)) return token;
  }
}

Slot& SlotTable::add(ContextId context, std::uint64_t token) {
  if (free_.empty()) {
    free_.push_back(size());
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->index = free_.back();
  }
  Slot& slot = *slots_[free_.back()];
  free_.pop_back();
  slot.token = token;
  slot.context = context;
  by_token_[token] = &slot;
  return slot;
}

void SlotTable::release(Slot& slot) {
  const std::uint32_t index = slot.index;
  by_token_.erase(slot.token);
  slot = Slot{};
  slot.index = index;
  free_.push_back(index);
}

Slot* SlotTable::find(std::uint64_t token) const {
  const auto known = by_token_.find(token);
  return known == by_token_.end() ? nullptr : known->second;
}

Slot* SlotTable::find(const SenderName& sender) const {
  const auto known = by_sender_.find(sender);
  return known == by_sender_.end() ? nullptr : find(known->second);
}

}  // namespace dlcp::core
