// Verbs and their options, for files that need not include CLI11: its header takes five seconds to
// compile and adds 100 kB of code to each file. Values are checked when they are read: a bad size,
// share, time, count or choice throws CLI::ValidationError with the value, the range and the
// accepted forms.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "util/time.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dlcp::cli {

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& description);
// Sets the end of --help, and the function that runs after all options have been read.
void complete(CLI::App& verb, const std::string& footer, std::function<void()> run);

CLI::Option* add_flag(CLI::App& verb, const std::string& name, bool& value,
                      const std::string& help);
CLI::Option* add_text(CLI::App& verb, const std::string& name, std::string& value,
                      const std::string& help);
CLI::Option* add_texts(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                       const std::string& help);
// An option that may be given several times, each time with one value.
CLI::Option* add_repeated(CLI::App& verb, const std::string& name, std::vector<std::string>& values,
                          const std::string& help);

bool given(const CLI::Option* option);
void exclude_each_other(CLI::Option* one, CLI::Option* other);
void need(CLI::Option* option, CLI::Option* other);  // `option` requires `other`
// Throws CLI::RequiredError, which the parser reports. Call it only while the verb runs.
[[noreturn]] void miss(const std::string& options);

template <class T>
struct Range {
  T least;
  T most;
};

// Numbers, separated by commas.
CLI::Option* add_numbers(CLI::App& verb, const std::string& name, std::vector<int>& values,
                         Range<int> range, const std::string& help);
CLI::Option* add_count(CLI::App& verb, const std::string& name, Range<std::int64_t> range,
                       std::function<void(std::int64_t)> store, const std::string& help);
// A number without a unit is in seconds.
CLI::Option* add_time(CLI::App& verb, const std::string& name, double& seconds,
                      Range<double> seconds_range, const std::string& help);
// Shares below `least` are refused unless they are 0.
CLI::Option* add_share(CLI::App& verb, const std::string& name, double& share, Range<double> range,
                       const std::string& help);
CLI::Option* add_choice(CLI::App& verb, const std::string& name,
                        const std::vector<std::string>& choices,
                        std::function<void(const std::string&)> store, const std::string& help);

inline CLI::Option* add_choice(CLI::App& verb, const std::string& name,
                               const std::vector<std::string>& choices, std::string& value,
                               const std::string& help) {
  return add_choice(
      verb, name, choices, [&value](const std::string& given) { value = given; }, help);
}
// Stores the value of the chosen name.
template <class T, class Value>
CLI::Option* add_choice(CLI::App& verb, const std::string& name,
                        const std::map<std::string, T>& choices, Value& value,
                        const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [choice, meaning] : choices)
    names.push_back(choice);
  return add_choice(
      verb, name, names, [choices, &value](const std::string& given) { value = choices.at(given); },
      help);
}

// Puts the options that are in no group yet, except --help, under a heading in --help.
void group_rest(CLI::App& verb, const std::string& heading);

template <class T>
CLI::Option* add_count(CLI::App& verb, const std::string& name, T& value, Range<std::int64_t> range,
                       const std::string& help) {
  return add_count(
      verb, name, range, [&value](std::int64_t given) { value = static_cast<T>(given); }, help);
}

}  // namespace dlcp::cli
