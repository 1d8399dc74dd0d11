// The only table of settings: the parser, the error messages, `dlcp knobs` and README use it.
// Settings that are not in it do not exist.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/settings/settings.h"
#include "util/result.h"
#include "util/time.h"

namespace dlcp::engine {

enum class KnobType : std::uint8_t {
  kText,
  kInteger,
  kBytes,  // these three are parsed by util/text/quantity.h
  kShare,
  kDuration,  // in `unit` if the text has none
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
  const char* unit;      // "" if none; for kDuration of min, max and fallback: "us", "ms", "s"
  const char* fallback;  // the default, in text form
  double min, max;       // numbers only
  const char* zero;      // the meaning of 0 if it is outside the range; nullptr if it has none
  const char* choices;   // kChoice: "a|b"
  const char* help;
  void (*store)(Settings& settings, const KnobValue& value);
};

inline constexpr std::string_view kKnobPrefix = "DLCP_";  // of every knob's name

std::span<const Knob> knobs();
const Knob* find_knob(std::string_view name);

// The knob whose name is most similar to `name` (in upper or lower case, with or without
// kKnobPrefix), or nullptr if none is similar.
const Knob* closest_knob(std::string_view name);

// Checks type and range, then stores the value. `origin` ("environment", "FILE:LINE") becomes part
// of the error.
Status set_knob(Settings& settings, const Knob& knob, std::string_view text,
                std::string_view origin);

// Formats "1..256", "0 (auto) or 1..64", "header|full", ...; "" for a text.
std::string range_of(const Knob& knob);
const char* type_name(KnobType type);

}  // namespace dlcp::engine
