// The grammar of NCCL_SOCKET_IFNAME over a list of interfaces.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datapath/udp/interfaces.h"

namespace dlcp::datapath {
namespace {

struct Selection {
  bool is_exclusion = false;
  bool is_exact = false;
  std::vector<std::string> names;

  bool matches(const std::string& name) const {
    return std::any_of(names.begin(), names.end(), [&](const std::string& wanted) {
      return is_exact ? name == wanted : name.compare(0, wanted.size(), wanted) == 0;
    });
  }
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

Selection parse_selection(std::string_view text) {
  Selection selection;
  text = trimmed(text);
  if (text.starts_with('^')) {
    selection.is_exclusion = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    selection.is_exact = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view name = trimmed(text.substr(0, comma));
    // NCCL ends a name at a colon, where older forms carried a port.
    if (const std::string_view bare = name.substr(0, name.find(':')); !bare.empty()) {
      selection.names.emplace_back(bare);
    }
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return selection;
}

bool is_last_resort(const Interface& interface) {
  return interface.properties.is_bridge || interface.name.starts_with("docker");
}

Error nothing_chosen(std::string_view selection, const std::vector<InterfaceAddress>& existing) {
  std::vector<std::string> names;
  for (const InterfaceAddress& interface : existing) {
    names.push_back(fmt::format("{} ({})", interface.name, to_string(interface.ip)));
  }
  const std::string asked = selection.empty()
                                ? "no interface other than loopback is usable"
                                : fmt::format("no usable interface matches \"{}\"", selection);
  return Error{
      ErrorCode::kInvalidUsage,
      fmt::format("{}; up and with an address: {}", asked,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
      "name one of them (a prefix, \"=name\" for the exact name, \"^name\" for all others)"};
}

}  // namespace

Result<std::vector<Interface>> choose_interfaces(std::string_view selection,
                                                 const std::vector<InterfaceAddress>& existing,
                                                 const std::string& sys_root) {
  const Selection wanted = parse_selection(selection);
  const bool by_name = !wanted.is_exclusion && !wanted.names.empty();
  std::vector<Interface> chosen;
  for (const InterfaceAddress& address : existing) {
    const bool is_match = wanted.matches(address.name);
    if (by_name ? is_match : !is_match && !address.is_loopback) {
      chosen.push_back(Interface{address, read_properties(address.name, sys_root)});
    }
  }
  if (!by_name && !std::all_of(chosen.begin(), chosen.end(), is_last_resort)) {
    std::erase_if(chosen, is_last_resort);
  }
  if (chosen.empty()) {
    return nothing_chosen(selection, existing);
  }
  return chosen;
}

}  // namespace dlcp::datapath
