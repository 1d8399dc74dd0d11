// Which of a list of devices the user asked for: the grammar that NCCL_SOCKET_IFNAME and
// NCCL_IB_HCA share. A comma-separated list of name prefixes, each with ":PORT" where a device has
// ports; a leading '=' asks for exact names, a leading '^' for all others ("^=": all but these).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcp::datapath {

class NameSelection {
 public:
  explicit NameSelection(std::string_view text);

  // Names were given as those wanted; false when empty, or when they are the ones not wanted.
  bool is_by_name() const { return !is_exclusion_ && !names_.empty(); }
  // Whether the list names it. Port 0 matches an entry with any port, as does an entry without one.
  bool lists(std::string_view name, int port = 0) const;
  // Whether the user wants it: listed, or not excluded, or nothing was asked for.
  bool selects(std::string_view name, int port = 0) const;

 private:
  struct Entry {
    std::string name;
    int port = 0;
  };
  bool is_exclusion_ = false;
  bool is_exact_ = false;
  std::vector<Entry> names_;
};

}  // namespace dlcp::datapath
