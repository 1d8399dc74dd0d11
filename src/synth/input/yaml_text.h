// YAML and JSON (a subset of YAML) for the readers of topologies: values with their positions,
// units, and errors that name both.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "util/result.h"

namespace dlcp::synth {

// Thrown inside readers; read_yaml turns it into an Error.
class BadInput : public std::runtime_error {
 public:
  BadInput(const std::string& what, std::string hint = "")
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// "line 7: WHAT"
[[noreturn]] void refuse(const YAML::Node& at, const std::string& what,
                         const std::string& hint = "");

// The text of a scalar; rejects lists and maps.
std::string text_of(const YAML::Node& node, const std::string& key);
int count_of(const YAML::Node& node, const std::string& key, int least, int most);
double number_of(const YAML::Node& node, const std::string& key, double least, double most);
bool flag_of(const YAML::Node& node, const std::string& key);
// Bytes per second of "100G" (bits per second, powers of 1000) or "12.5GB/s".
double rate_of(const YAML::Node& node, const std::string& key);
// Seconds of "1.3us".
double seconds_of(const YAML::Node& node, const std::string& key);
// Rejects keys that are not in the list, so that a misspelt key is not ignored.
void only_keys(const YAML::Node& map, std::initializer_list<const char*> keys);
// "h[0-3]" is h0 h1 h2 h3; lists of names are concatenated.
std::vector<std::string> names_of(const YAML::Node& node, const std::string& key);

inline constexpr std::size_t kTextMax = 64 << 20;

// Parses `text` and reads the root with `read`. `source` names the file in errors, `what` the
// expected kind of file, and `page` the page that describes it.
Result<Unit> read_yaml(const std::string& text, const std::string& source,
                       const std::function<void(const YAML::Node&)>& read,
                       const char* what = "topology", const char* page = "docs/synth.md");

}  // namespace dlcp::synth
