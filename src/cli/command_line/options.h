// Options whose values are checked where they are read: sizes, shares, times, counts, choices. A
// bad value throws CLI::ValidationError with the value, the range and how it may be written.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "util/time.h"

namespace dlcp::cli {

template <class T>
struct Range {
  T least;
  T most;
};

CLI::Option* add_count(CLI::App& verb, const std::string& name, Range<std::int64_t> range,
                       std::function<void(std::int64_t)> store, const std::string& help);
// A number alone is in seconds.
CLI::Option* add_time(CLI::App& verb, const std::string& name, double& seconds,
                      Range<double> seconds_range, const std::string& help);
// Shares below `least` are refused unless they are 0.
CLI::Option* add_share(CLI::App& verb, const std::string& name, double& share, Range<double> range,
                       const std::string& help);
CLI::Option* add_choice(CLI::App& verb, const std::string& name,
                        const std::vector<std::string>& choices,
                        std::function<void(const std::string&)> store, const std::string& help);

// Puts the options that are in no group yet, --help apart, under a heading in --help.
void group_rest(CLI::App& verb, const std::string& heading);

template <class T>
CLI::Option* add_count(CLI::App& verb, const std::string& name, T& value, Range<std::int64_t> range,
                       const std::string& help) {
  return add_count(
      verb, name, range, [&value](std::int64_t given) { value = static_cast<T>(given); }, help);
}

}  // namespace dlcp::cli
