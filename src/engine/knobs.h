// The one table of what can be set: the parser, the error messages, `dlcp knobs` and README all
// read it. A setting that is not here does not exist.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/settings.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

enum class KnobType : std::uint8_t {
  kText,
  kInteger,
  kBytes,  // these three as util/quantity.h reads them
  kShare,
  kDuration,  // in `unit` where none is written
  kFlag,      // 0 or 1
  kChoice,
};

struct KnobValue {
  std::string_view text;
  // kInteger (two's complement if it may be negative), kBytes, kFlag, and the index of a kChoice.
  std::uint64_t integer = 0;
  double share = 0;      // kShare
  Duration duration{0};  // kDuration
};

struct Knob {
  const char* name;  // also the environment variable
  KnobType type;
  const char* unit;      // "" if none; kDuration: of min, max and fallback, "us", "ms" or "s"
  const char* fallback;  // the default, as one would write it
  double min, max;       // numbers only
  const char* zero;      // what 0 means beside the range; nullptr: nothing special
  const char* choices;   // kChoice: "a|b"
  const char* help;
  void (*store)(Settings& settings, const KnobValue& value);
};

inline constexpr std::string_view kKnobPrefix = "DLCP_";  // of every knob's name

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view name);

// The knob whose name is most like `name` (in any case, with or without kKnobPrefix), or nullptr if
// none is similar.
const Knob* closest_knob(std::string_view name);

// Checks type and range and stores. `origin` ("environment", "FILE:LINE") goes into the error.
Status set_knob(Settings& settings, const Knob& knob, std::string_view text,
                std::string_view origin);

// "1..256", "0 (auto) or 1..64", "header|full", ...; "" for a text.
std::string range_of(const Knob& knob);
const char* type_name(KnobType type);

}  // namespace dlcp::engine
