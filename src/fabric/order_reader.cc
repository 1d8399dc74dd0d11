// Reads order.json. Every error names the member; it is thrown through the recursion and converted
// to a Result in one place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>

#include "fabric/order_file.h"
#include "util/text/json_depth.h"
#include "util/text/similar.h"

namespace dlcp::fabric {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw Error{ErrorCode::kInvalidUsage, "order file: " + what, hint};
}

// The value found, shortened to one line.
std::string seen(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

// An object of the file, with its position.
class Section {
 public:
  Section(const Json& json, std::string where, std::span<const std::string_view> known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object())
      refuse(fmt::format("{} is {}", where_, seen(json)), "an object is expected");
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      const std::string_view similar = most_similar(key, known);
      refuse(fmt::format("{} has an unknown member '{}'", where_, key.substr(0, 60)),
             similar.empty() ? fmt::format("members are {}", fmt::join(known, ", "))
                             : fmt::format("did you mean {}?", similar));
    }
  }

  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  double number(const char* key, double most) const {
    const Json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number() || !(value->get<double>() >= 0 && value->get<double>() <= most))
      wrong(key, *value, fmt::format("give a number, 0 (unknown) to {:g}", most));
    return value->get<double>();
  }
  int count(const char* key, int least, int most, int fallback) const {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number_integer() || value->get<double>() < least || value->get<double>() > most)
      wrong(key, *value, fmt::format("give {}..{}", least, most));
    return value->get<int>();
  }
  bool flag(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) wrong(key, *value, "give true or false");
    return value->get<bool>();
  }
  std::string text(const char* key) const {
    const Json* value = find(key);
    if (value == nullptr) refuse(fmt::format("{} has no {}", where_, key), "add one");
    if (!value->is_string()) wrong(key, *value, "give a string");
    return value->get<std::string>();
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> list;
    for (const Json& entry : array(key)) {
      if (!entry.is_string()) wrong(key, entry, "give a list of strings");
      list.push_back(entry.get<std::string>());
    }
    return list;
  }
  const Json& array(const char* key) const {
    static const Json kNone = Json::array();
    const Json* value = find(key);
    if (value == nullptr) return kNone;
    if (!value->is_array()) wrong(key, *value, "give a list");
    return *value;
  }

 private:
  [[noreturn]] void wrong(const char* key, const Json& value, const std::string& hint) const {
    refuse(fmt::format("{}: {} is {}", where_, key, seen(value)), hint);
  }

  const Json& json_;
  std::string where_;
};

constexpr std::array<std::string_view, 5> kFileKeys = {"version", "hosts", "fabric", "order",
                                                       "report"};
constexpr std::array<std::string_view, 6> kHostKeys = {"name",  "addresses", "gb_per_s",
                                                       "slots", "slow",      "silent"};
constexpr std::array<std::string_view, 6> kGroupKeys = {"name", "uplink_gb_per_s", "round_trip_us",
                                                        "slow", "hosts",           "groups"};

class Reader {
 public:
  OrderFile read(const Json& json) {
    const Section file(json, "the whole", kFileKeys);
    check_version(file);
    read_hosts(file.array("hosts"));
    const Json* tree = file.find("fabric");
    if (tree == nullptr) refuse("there is no fabric", "add \"fabric\": {\"name\": ...}");
    in_.fabric.group_of.assign(in_.fabric.hosts.size(), -1);
    read_group(*tree, -1, 0);
    place_rest(tree->contains("groups") || tree->contains("hosts"));
    if (const Status sound = check(in_.fabric); !sound)
      refuse(sound.error().what, sound.error().hint);
    read_sequence(file);
    return std::move(in_);
  }

 private:
  static void check_version(const Section& file) {
    const Json* version = file.find("version");
    if (version == nullptr) refuse("it has no version", "it was not written by `dlcp order`");
    if (!version->is_number_integer() || *version != kOrderVersion)
      refuse(fmt::format("version {}", seen(*version)),
             fmt::format("this program reads version {}; create the file again with its `dlcp "
                         "order`",
                         kOrderVersion));
  }

  void read_hosts(const Json& list) {
    if (list.empty() || list.size() > kHostsMax)
      refuse(fmt::format("{} hosts", list.size()), fmt::format("give 1..{}", kHostsMax));
    for (const Json& json : list) {
      const Section section(json, fmt::format("host {}", in_.fabric.hosts.size()), kHostKeys);
      Host host;
      host.name = section.text("name");
      host.addresses = section.texts("addresses");
      host.gb_per_s = section.number("gb_per_s", kGbPerSecondMax);
      host.slots = section.count("slots", 1, 1024, 1);
      host.slow = section.flag("slow");
      host.silent = section.flag("silent");
      if (!index_.emplace(host.name, static_cast<int>(in_.fabric.hosts.size())).second)
        refuse(fmt::format("two hosts are called '{}'", host.name.substr(0, 80)),
               "give each a name of its own");
      in_.fabric.hosts.push_back(std::move(host));
    }
  }

  void read_group(const Json& json, int parent, std::size_t depth) {
    const int own = static_cast<int>(in_.fabric.groups.size());
    if (depth >= kGroupDepthMax || in_.fabric.groups.size() > 2 * kHostsMax)
      refuse(fmt::format("group {} is {} levels deep", own, depth),
             fmt::format("the limit is {}", kGroupDepthMax - 1));
    const Section section(json, fmt::format("group {}", own), kGroupKeys);
    in_.fabric.groups.push_back(
        {section.text("name"), parent, section.number("uplink_gb_per_s", kGbPerSecondMax),
         section.number("round_trip_us", kMicrosecondsMax), section.flag("slow")});
    for (const std::string& name : section.texts("hosts"))
      place(name, own);
    for (const Json& child : section.array("groups"))
      read_group(child, own, depth + 1);
  }

  void place(const std::string& name, int group) {
    const auto found = index_.find(name);
    if (found == index_.end())
      refuse(
          fmt::format("group '{}' contains '{}', which is not a host",
                      in_.fabric.groups[static_cast<std::size_t>(group)].name, name.substr(0, 80)),
          "add it to 'hosts'");
    int& slot = in_.fabric.group_of[static_cast<std::size_t>(found->second)];
    if (slot >= 0)
      refuse(fmt::format("host '{}' is in two groups", name), "remove it from one of them");
    slot = group;
  }

  // A fabric without groups or hosts inside is flat.
  void place_rest(bool has_inside) {
    for (std::size_t i = 0; i < in_.fabric.hosts.size(); ++i) {
      int& group = in_.fabric.group_of[i];
      if (group < 0 && has_inside)
        refuse(fmt::format("host '{}' is in no group", in_.fabric.hosts[i].name),
               "put it into one");
      group = std::max(group, 0);
    }
  }

  void read_sequence(const Section& file) {
    if (file.find("order") == nullptr) {
      in_.order = given_order(in_.fabric);
      return;
    }
    std::vector<bool> placed(in_.fabric.hosts.size());
    for (const std::string& name : file.texts("order")) {
      const auto found = index_.find(name);
      if (found == index_.end())
        refuse(fmt::format("the order contains '{}', which is not a host", name.substr(0, 80)),
               "add it to 'hosts'");
      if (placed[static_cast<std::size_t>(found->second)])
        refuse(fmt::format("the order has '{}' twice", name), "remove one of them");
      placed[static_cast<std::size_t>(found->second)] = true;
      in_.order.push_back(found->second);
    }
    if (in_.order.size() != placed.size())
      refuse(fmt::format("the order contains {} of {} hosts", in_.order.size(), placed.size()),
             "list every host once");
  }

  OrderFile in_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace

Result<OrderFile> read_order(std::string_view text) {
  if (text.size() > kOrderBytesMax)
    return Error{ErrorCode::kInvalidUsage, fmt::format("the order file has {} bytes", text.size()),
                 fmt::format("the limit is {}", kOrderBytesMax)};
  try {
    return Reader().read(Json::parse(text, limited_depth));
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {  // nlohmann's, and that of limited_depth
    const std::string what = error.what();
    const std::size_t at = what.find("parse error at ");
    return Error{
        ErrorCode::kInvalidUsage,
        "the order file is not valid JSON: " + (at == std::string::npos ? what : what.substr(at)),
        "`dlcp order -o FILE` writes one"};
  }
}

}  // namespace dlcp::fabric
