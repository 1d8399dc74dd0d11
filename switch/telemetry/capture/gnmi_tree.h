// Finds the leaves of a queue in the result of a gNMI Get, in its usual forms: notifications as
// gnmic prints them ([{source, updates: [{Path, values}]}]), gnmic's events ([{tags, values}]), and
// the bare tree ({"openconfig-qos:qos": {...}}).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dlcp::fabric::telemetry {

struct GnmiLeaf {
  std::string source;  // the switch; empty: the answer does not name it
  std::string port, queue, name;
  const nlohmann::json* value = nullptr;
};

class GnmiTree {
 public:
  using Use = std::function<void(const GnmiLeaf&)>;

  // `path`: "/qos/interfaces/interface[interface-id={port}]/...". `entries`: "{port}:{queue}" if
  // the members of the value at the path are queues; empty: the path leads to one queue.
  GnmiTree(const std::string& path, const std::string& entries);

  void walk(const nlohmann::json& answer, const Use& use) const;

 private:
  struct Element {
    std::string name, key, hole;  // key empty: not a list; hole: "port", "queue" or fixed text
  };
  struct Place {  // position in the path, and the values of its holes
    std::size_t element = 0;
    GnmiLeaf held;
  };

  static std::vector<Element> parse(const std::string& path);
  bool step(Place& place, const std::string& name,
            const std::vector<std::pair<std::string, std::string>>& keys) const;
  void follow(Place place, const std::string& path, const nlohmann::json& value,
              const Use& use) const;
  void descend(const Place& place, const nlohmann::json& value, const Use& use) const;
  void leaves(const Place& place, const nlohmann::json& value, const Use& use) const;
  void event(const nlohmann::json& event, const Use& use) const;
  static void set_hole(Place& place, const std::string& hole, const std::string& text);

  std::vector<Element> elements_;
  std::string entries_;
};

}  // namespace dlcp::fabric::telemetry
