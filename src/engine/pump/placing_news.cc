#include "engine/pump/placing_news.h"

#include <fmt/format.h>

#include "datapath/address/device_address.h"

namespace dlcp::engine {
namespace {

std::string host_text(const wire::EndpointAddress& peer) {
  const auto address = datapath::decode_device_address(peer);
  return address ? to_string(address->ip) : "a host";
}

}  // namespace

void PlacingNews::opened(core::LinkId link, const wire::EndpointAddress& peer) {
  hosts_[link] = host_text(peer);
}

void PlacingNews::connected(core::LinkId link, std::size_t paths) {
  const auto host = hosts_.find(link);
  if (host == hosts_.end() || paths == 0 || !told_.insert({host->second, true}).second) return;
  lines_.push_back(fmt::format("data to {} is placed by its card, over {} queue pair{}",
                               host->second, paths, paths == 1 ? "" : "s"));
}

void PlacingNews::failed(core::LinkId link, std::string_view why) {
  const auto host = hosts_.find(link);
  if (host != hosts_.end()) copied(host->second, why);
}

void PlacingNews::copied(const wire::EndpointAddress& peer, std::string_view why) {
  copied(host_text(peer), why);
}

void PlacingNews::copied(const std::string& host, std::string_view why) {
  if (!told_.insert({host, false}).second) return;
  lines_.push_back(fmt::format("data to {} is copied by its processor, because {}", host, why));
}

}  // namespace dlcp::engine
