#include "nccl/net/net_attributes.h"

#include <array>

namespace dlcp::nccl {
namespace {

// Limit of communicators per thread; NCCL has a thread for each communicator.
constexpr std::size_t kRemembered = 16;

struct Entry {
  core::ContextId context = 0;  // 0: none
  TransferAttributes attributes;
};
struct Memory {
  std::array<Entry, kRemembered> entries;
  std::size_t oldest = 0;
};

Memory& of_this_thread() {
  static constinit thread_local Memory memory{};
  return memory;
}

Entry* find(Memory& memory, core::ContextId context) {
  for (Entry& entry : memory.entries)
    if (entry.context == context) return &entry;
  return nullptr;
}

}  // namespace

void remember_attributes(core::ContextId context, const TransferAttributes& attributes) {
  Memory& memory = of_this_thread();
  Entry* entry = find(memory, context);
  if (entry == nullptr) {
    entry = &memory.entries[memory.oldest];
    memory.oldest = (memory.oldest + 1) % kRemembered;
  }
  *entry = {context, attributes};
}

std::optional<TransferAttributes> attributes_of(core::ContextId context) {
  const Entry* entry = find(of_this_thread(), context);
  return entry != nullptr ? std::optional(entry->attributes) : std::nullopt;
}

}  // namespace dlcp::nccl
