// The user's selection from a list of devices, in the syntax that NCCL_SOCKET_IFNAME and
// NCCL_IB_HCA share: a comma-separated list of name prefixes, each with ":PORT" for devices that
// have ports. A leading '=' requires exact names, a leading '^' selects all other devices ("^=":
// all except these exact names).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlcp::datapath {

class NameSelection {
 public:
  explicit NameSelection(std::string_view text);

  // True if the list names devices to use; false if it is empty or an exclusion.
  bool is_by_name() const { return !is_exclusion_ && !names_.empty(); }
  // True if the list contains the name. Port 0 matches an entry with any port; an entry without a
  // port matches any port.
  bool lists(std::string_view name, int port = 0) const;
  // True if the device is selected: it is listed, or not excluded, or the list is empty.
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
