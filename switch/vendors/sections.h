// The sections of a target's templates (NAME.mustache): what each makes of what the plan says. A
// fabric has many switches of one kind, so what was made lately is kept, for whichever thread asks
// next; the answer is the same either way.
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
  // Empty where the target has no such section. Nothing is escaped.
  std::string filled(const std::string& section, const nlohmann::json& context) const;
  // The same with a text that says all of what the context does, which is asked for where no such
  // text was filled lately.
  std::string filled(const std::string& section, std::string_view said,
                     const std::function<nlohmann::json()>& context) const;

 private:
  class Lately;

  std::map<std::string, std::string> texts_;
  std::unique_ptr<Lately> lately_;
};

Sections sections_of_target(std::string_view os);  // without any where it has no such file

}  // namespace dlcp::fabric
