// Lines for the log that tell, once for each host, whether the data that is sent to it is placed by
// its card or copied by its processor, and why.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/placement/card.h"
#include "wire/packet.h"

namespace dlcp::engine {

class PlacingNews {
 public:
  // A link over which this end sends.
  void opened(core::LinkId link, const wire::EndpointAddress& peer);
  void closed(core::LinkId link) { hosts_.erase(link); }
  // `paths`: the number that can be used now. Ignores links that are not known.
  void connected(core::LinkId link, std::size_t paths);
  void failed(core::LinkId link, std::string_view why);
  // Data to the peer is copied from now on.
  void copied(const wire::EndpointAddress& peer, std::string_view why);

  // The lines since the last call.
  std::vector<std::string> take() { return std::exchange(lines_, {}); }
  bool empty() const { return lines_.empty(); }

 private:
  void copied(const std::string& host, std::string_view why);

  std::unordered_map<core::LinkId, std::string> hosts_;
  std::set<std::pair<std::string, bool>> told_;  // host, is placed
  std::vector<std::string> lines_;
};

}  // namespace dlcp::engine
