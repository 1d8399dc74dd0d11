#include "switch/telemetry/capture/gnmi_tree.h"

namespace dlcp::fabric::telemetry {
namespace {

using Json = nlohmann::json;
using Keys = std::vector<std::pair<std::string, std::string>>;

std::string without_module(const std::string& name) {
  const auto colon = name.find(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The element "a[k=v]" at position `at` of a path; a '/' within brackets belongs to the value.
std::string element_at(const std::string& path, std::size_t& at) {
  while (at < path.size() && path[at] == '/')
    ++at;
  const std::size_t first = at;
  bool inside = false;
  while (at < path.size() && (inside || path[at] != '/')) {
    if (path[at] == '[') inside = true;
    if (path[at] == ']') inside = false;
    ++at;
  }
  return path.substr(first, at - first);
}

std::string name_in(const std::string& element) {
  return without_module(element.substr(0, element.find('[')));
}

Keys keys_in(const std::string& element) {
  Keys keys;
  for (auto at = element.find('['); at != std::string::npos; at = element.find('[', at + 1)) {
    const auto end = element.find(']', at);
    const auto sign = element.find('=', at);
    if (end == std::string::npos || sign == std::string::npos || sign > end) break;
    keys.emplace_back(element.substr(at + 1, sign - at - 1),
                      element.substr(sign + 1, end - sign - 1));
  }
  return keys;
}

std::string key_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
}

}  // namespace

GnmiTree::GnmiTree(const std::string& path, const std::string& entries)
    : elements_(parse(path)), entries_(entries) {}

std::vector<GnmiTree::Element> GnmiTree::parse(const std::string& path) {
  std::vector<Element> list;
  for (std::size_t at = 0; at < path.size();) {
    const auto text = element_at(path, at);
    if (text.empty()) break;
    Element element{name_in(text), "", ""};
    for (const auto& [key, value] : keys_in(text)) {
      element.key = key;
      element.hole = value.substr(1, value.size() - 2);  // {port}
    }
    if (element.name.front() == '{') element.hole = element.name.substr(1, element.name.size() - 2);
    list.push_back(std::move(element));
  }
  return list;
}

void GnmiTree::set_hole(Place& place, const std::string& hole, const std::string& text) {
  if (hole == "port") place.held.port = text;
  if (hole == "queue") place.held.queue = text;
}

// Advances by one element if the path matches it.
bool GnmiTree::step(Place& place, const std::string& name, const Keys& keys) const {
  if (place.element >= elements_.size()) return false;
  const Element& element = elements_[place.element];
  const bool named = element.name.front() == '{';  // COUNTERS/{port}
  if (!named && element.name != name) return false;
  if (named) set_hole(place, element.hole, name);
  for (const auto& [key, value] : keys)
    if (key == element.key) set_hole(place, element.hole, value);
  ++place.element;
  return true;
}

void GnmiTree::walk(const Json& answer, const Use& use) const {
  if (answer.is_object() && !answer.contains("updates") && !answer.contains("tags"))
    return descend({}, answer, use);
  const Json& list = answer;
  const auto one = [&](const Json& item) {
    if (!item.is_object()) return;
    if (item.contains("tags")) return event(item, use);
    const auto updates = item.find("updates");
    if (updates == item.end()) return descend({}, item, use);
    if (!updates->is_array()) return;
    for (const Json& update : *updates) {
      const auto values = update.is_object() ? update.find("values") : update.end();
      if (values == update.end() || !values->is_object()) continue;
      Place place;
      place.held.source = text_of(item, "source");
      for (const auto& [path, value] : values->items()) {
        const auto whole = text_of(update, "Path");
        follow(place, whole.empty() ? path : text_of(item, "prefix") + "/" + whole, value, use);
      }
    }
  };
  if (list.is_array())
    for (const Json& item : list)
      one(item);
  else
    one(list);
}

void GnmiTree::follow(Place place, const std::string& path, const Json& value,
                      const Use& use) const {
  for (std::size_t at = 0; at < path.size();) {
    const auto element = element_at(path, at);
    if (element.empty()) break;
    if (step(place, name_in(element), keys_in(element))) continue;
    if (place.element < elements_.size() && place.element > 0) return;  // another branch
    if (place.element == elements_.size()) {
      place.held.name = name_in(element);
      place.held.value = &value;
      while (at < path.size())  // leaves at deeper levels do not belong to a queue
        if (!element_at(path, at).empty()) return;
      return use(place.held);
    }
  }
  descend(place, value, use);
}

void GnmiTree::descend(const Place& place, const Json& value, const Use& use) const {
  if (place.element == elements_.size()) return leaves(place, value, use);
  if (!value.is_object()) return;
  const Element& element = elements_[place.element];
  for (const auto& [name, inner] : value.items()) {
    Place next = place;
    if (!step(next, without_module(name), {})) continue;
    if (element.key.empty()) {
      descend(next, inner, use);
      continue;
    }
    if (!inner.is_array()) continue;
    for (const Json& entry : inner) {
      const auto key = entry.is_object() ? entry.find(element.key) : entry.end();
      if (key == entry.end()) continue;
      set_hole(next, element.hole, key_text(*key));
      descend(next, entry, use);
    }
  }
}

// Visits the leaves of a queue, or of an object whose members are queues.
void GnmiTree::leaves(const Place& place, const Json& value, const Use& use) const {
  if (!value.is_object()) return;
  for (const auto& [name, inner] : value.items()) {
    Place at = place;
    if (!entries_.empty()) {  // "Ethernet0:3"
      const auto colon = name.rfind(':');
      if (colon == std::string::npos || !inner.is_object()) continue;
      at.held.port = name.substr(0, colon);
      at.held.queue = name.substr(colon + 1);
      for (const auto& [leaf, count] : inner.items()) {
        at.held.name = leaf;
        at.held.value = &count;
        use(at.held);
      }
      continue;
    }
    if (inner.is_structured()) continue;
    at.held.name = without_module(name);
    at.held.value = &inner;
    use(at.held);
  }
}

void GnmiTree::event(const Json& event, const Use& use) const {
  const auto& tags = event.at("tags");
  const auto values = event.find("values");
  if (!tags.is_object() || values == event.end() || !values->is_object()) return;
  GnmiLeaf held;
  held.source = text_of(tags, "source");
  Place place;
  for (const Element& element : elements_) {
    if (element.key.empty()) continue;
    set_hole(place, element.hole, text_of(tags, (element.name + "_" + element.key).c_str()));
  }
  held.port = place.held.port;
  held.queue = place.held.queue;
  for (const auto& [path, value] : values->items()) {
    held.name = without_module(path.substr(path.rfind('/') + 1));
    held.value = &value;
    if (!value.is_structured()) use(held);
  }
}

}  // namespace dlcp::fabric::telemetry
