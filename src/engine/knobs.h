// The one table of what can be set: the parser, the error messages, `dlcp knobs` and README all
// read it. A setting that is not here does not exist.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/settings.h"
#include "util/result.h"

namespace dlcp::engine {

enum class KnobType : std::uint8_t {
  kText,
  kInteger,
  kBytes,   // an integer, with K, M or G for powers of 1024
  kNumber,  // a decimal fraction
  kFlag,    // 0 or 1
  kChoice,
};

struct KnobValue {
  std::string_view text;
  // kInteger (two's complement if it may be negative), kBytes, kFlag, and the index of a kChoice.
  std::uint64_t integer = 0;
  double number = 0;  // kNumber
};

struct Knob {
  const char* name;  // also the environment variable
  KnobType type;
  const char* unit;      // "" if none
  const char* fallback;  // the default, as one would write it
  double min, max;       // numbers only
  const char* zero;      // what 0 means beside the range; nullptr: nothing special
  const char* choices;   // kChoice: "a|b"
  const char* help;
  void (*store)(Settings& settings, const KnobValue& value);
};

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view name);

// The knob whose name is most like `name`, or nullptr if none is similar.
const Knob* closest_knob(std::string_view name);

// Checks type and range and stores. `origin` ("environment", "FILE:LINE") goes into the error.
Status set_knob(Settings& settings, const Knob& knob, std::string_view text,
                std::string_view origin);

// "1..256", "0 (auto) or 1..64", "header|full", ...
std::string range_of(const Knob& knob);

// The table for README.
std::string knobs_markdown();

}  // namespace dlcp::engine
