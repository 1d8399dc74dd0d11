#include "switch/vendors/sections.h"

#include <kainjow/mustache.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "switch/targets/target_files.h"

namespace dlcp::fabric {
namespace {

using Json = nlohmann::json;
using Data = kainjow::mustache::data;

Data data_of(const Json& json) {
  if (json.is_object()) {
    Data object{Data::type::object};
    for (const auto& [key, value] : json.items())
      object.set(key, data_of(value));
    return object;
  }
  if (json.is_array()) {
    Data list{Data::type::list};
    for (const auto& item : json)
      list << data_of(item);
    return list;
  }
  if (json.is_boolean())
    return Data{json.get<bool>() ? Data::type::bool_true : Data::type::bool_false};
  return Data{json.is_string() ? json.get<std::string>() : json.dump()};
}

// Removes a line that has only a section's tag, whether the section is rendered or not: kainjow
// leaves an empty line if it is not.
bool is_tag(const std::string& line) {
  const bool opens = line.starts_with("{{#") || line.starts_with("{{^") || line.starts_with("{{/");
  return opens && line.find("}}") == line.size() - 2;
}

}  // namespace

// Results by section and context; limited in number, so that a fabric with all switches different
// uses little memory.
class Sections::Lately {
 public:
  std::optional<std::string> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = texts_.find(key);
    return found == texts_.end() ? std::nullopt : std::optional(found->second);
  }

  void keep(std::string key, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (texts_.size() >= kKeptMax) texts_.clear();
    texts_.emplace(std::move(key), text);
  }

 private:
  static constexpr std::size_t kKeptMax = 64;

  std::mutex mutex_;
  std::unordered_map<std::string, std::string> texts_;
};

Sections::Sections() : Sections(std::string_view()) {}

Sections::Sections(std::string_view mustache) : lately_(std::make_unique<Lately>()) {
  std::string name;
  std::istringstream lines{std::string(mustache)};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("=== "))
      name = line.substr(4);
    else if (!name.empty())
      texts_[name] += is_tag(line) ? line : line + "\n";
}

Sections::Sections(Sections&&) noexcept = default;
Sections& Sections::operator=(Sections&&) noexcept = default;
Sections::~Sections() = default;

std::string Sections::filled(const std::string& section, const Json& context) const {
  if (!has(section)) return {};
  return filled(section, context.dump(), [&context] { return context; });
}

std::string Sections::filled(const std::string& section, std::string_view said,
                             const std::function<Json()>& context) const {
  const auto found = texts_.find(section);
  if (found == texts_.end()) return {};
  std::string key = section + "\n";
  key += said;
  if (auto text = lately_->find(key)) return std::move(*text);
  kainjow::mustache::mustache mustache{found->second};
  mustache.set_custom_escape([](const std::string& raw) { return raw; });
  std::string text = mustache.render(data_of(context()));
  lately_->keep(std::move(key), text);
  return text;
}

Sections sections_of_target(std::string_view os) {
  for (const TargetFile& file : target_files())
    if (Json::parse(file.data).at("os") == os) return Sections(file.text);
  return {};
}

}  // namespace dlcp::fabric
