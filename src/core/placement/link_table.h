// Finds the receiving association that a report of the card is for.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/placement/card.h"

namespace dlcp::core {

struct LinkTable {
  std::unordered_map<LinkId, std::uint64_t> by_link;  // -> token of the association
  struct Place {
    std::uint64_t association = 0;  // token
    std::uint16_t slot = 0;         // of its RecvPlacing
  };
  std::unordered_map<PermissionId, Place> by_permission;

  // These return 0 if the association has ended.
  std::uint64_t of_link(LinkId link) const {
    const auto found = by_link.find(link);
    return found == by_link.end() ? 0 : found->second;
  }
  std::uint64_t of_permission(PermissionId id) const {
    const auto found = by_permission.find(id);
    return found == by_permission.end() ? 0 : found->second.association;
  }
};

}  // namespace dlcp::core
