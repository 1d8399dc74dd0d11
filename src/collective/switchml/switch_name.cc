#include "collective/switchml/switch_name.h"

#include "util/text/host_port.h"
#include "util/text/quantity.h"

namespace dlcp::collective {
namespace {

constexpr unsigned kSlotsMin = 2;  // one for sums, one for the hello

}  // namespace

Result<SwitchName> switch_name(const std::string& text) {
  SwitchName name;
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const auto slots = parse_count(text.substr(slash + 1));
    if (!slots || *slots < kSlotsMin || *slots > kSwitchSlotsMax) {
      return Error{ErrorCode::kInvalidUsage,
                   "'" + text.substr(slash + 1) + "' is not a number of slots",
                   "give " + std::to_string(kSlotsMin) + ".." + std::to_string(kSwitchSlotsMax) +
                       "; give at most the number that the switch has (--slots)"};
    }
    name.slots = static_cast<unsigned>(*slots);
  }
  const auto parts = split_host_port(text.substr(0, slash));
  if (!parts) return parts.error();
  name.host = parts.value().host;
  name.port = parts.value().port.value_or(name.port);
  return name;
}

}  // namespace dlcp::collective
