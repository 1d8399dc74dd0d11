// Fills the sections of a target's templates (NAME.mustache) with values of the plan. Recent
// results are cached for all threads, because a fabric has many switches of one kind; the cache
// does not change the result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dlcp::fabric {

class Sections {
 public:
  Sections();
  explicit Sections(std::string_view mustache);  // a line "=== NAME" begins a section
  Sections(Sections&&) noexcept;
  Sections& operator=(Sections&&) noexcept;
  ~Sections();

  bool has(const std::string& section) const { return texts_.count(section) != 0; }
  // Empty if the target has no such section. Nothing is escaped.
  std::string filled(const std::string& section, const nlohmann::json& context) const;
  // The same with a text that identifies the context completely. `context` is called only if no
  // recent result has this text.
  std::string filled(const std::string& section, std::string_view said,
                     const std::function<nlohmann::json()>& context) const;

 private:
  class Lately;

  std::map<std::string, std::string> texts_;
  std::unique_ptr<Lately> lately_;
};

Sections sections_of_target(std::string_view os);  // empty if the target has no template file

}  // namespace dlcp::fabric
