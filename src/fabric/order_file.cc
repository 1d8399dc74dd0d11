// Writes order.json; order_reader.cc reads it.
#include "fabric/order_file.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace dlcp::fabric {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Host& host) {
  Json json = {{"name", host.name}};
  if (!host.addresses.empty()) json["addresses"] = host.addresses;
  if (host.gb_per_s > 0) json["gb_per_s"] = host.gb_per_s;
  if (host.slots != 1) json["slots"] = host.slots;
  if (host.slow) json["slow"] = true;
  if (host.silent) json["silent"] = true;
  return json;
}

Json to_json(const Group& group) {
  Json json = {{"name", group.name}};
  if (group.round_trip_us > 0) json["round_trip_us"] = group.round_trip_us;
  if (group.uplink_gb_per_s > 0) json["uplink_gb_per_s"] = group.uplink_gb_per_s;
  if (group.slow) json["slow"] = true;
  return json;
}

Json tree_of(const Fabric& fabric) {
  std::vector<Json> groups;
  for (const Group& group : fabric.groups)
    groups.push_back(to_json(group));
  for (std::size_t i = 0; i < fabric.hosts.size(); ++i)
    groups[static_cast<std::size_t>(fabric.group_of[i])]["hosts"].push_back(fabric.hosts[i].name);
  // From the last to the first: a group is complete before it is added to its parent.
  for (std::size_t i = groups.size(); i-- > 1;) {
    Json& siblings = groups[static_cast<std::size_t>(fabric.groups[i].parent)]["groups"];
    if (siblings.is_null()) siblings = Json::array();
    siblings.insert(siblings.begin(), std::move(groups[i]));
  }
  return std::move(groups.front());
}

// A small object is one line, because people read and edit this file.
std::string lines_of(const Json& list, const char* indent) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + std::string(indent) + list[i].dump();
  return text + "\n" + std::string(indent).substr(2) + "]";
}

}  // namespace

std::string write_order(const OrderFile& file) {
  Json hosts = Json::array();
  for (const Host& host : file.fabric.hosts)
    hosts.push_back(to_json(host));
  Json order = Json::array();
  for (const int host : file.order)
    order.push_back(file.fabric.hosts[static_cast<std::size_t>(host)].name);
  std::string text = "{\n  \"version\": " + std::to_string(kOrderVersion);
  text += ",\n  \"hosts\": " + lines_of(hosts, "    ");
  text += ",\n  \"fabric\": " + tree_of(file.fabric).dump();
  text += ",\n  \"order\": " + order.dump();
  if (!file.report.empty()) text += ",\n  \"report\": " + file.report;
  return text + "\n}\n";
}

std::vector<int> given_order(const Fabric& fabric) {
  std::vector<int> order(fabric.hosts.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace dlcp::fabric
