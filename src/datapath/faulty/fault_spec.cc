// Parses and formats a FaultSpec.
#include "datapath/faulty/fault_spec.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace dlcp::datapath {
namespace {

constexpr std::string_view kKeys =
    "drop, burst, dup, reorder, reorder_packets, corrupt, delay_us, jitter_us, blackhole, seed";

template <class T>
std::optional<T> number_in(std::string_view text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && value >= least && value <= most ? std::optional<T>(value) : std::nullopt;
}

Error bad_value(std::string_view key, std::string_view value, std::string_view range) {
  return Error{ErrorCode::kInvalidUsage, fmt::format("fault {}={} is out of range", key, value),
               fmt::format("{} takes {}", key, range)};
}

bool set_share(double& share, std::string_view value) {
  const auto parsed = number_in<double>(value, 0.0, 1.0);
  share = parsed.value_or(share);
  return parsed.has_value();
}

bool set_microseconds(Duration& duration, std::string_view value) {
  const auto parsed = number_in<std::int64_t>(value, 0, 10'000'000);
  duration = std::chrono::microseconds(parsed.value_or(0));
  return parsed.has_value();
}

template <class T>
bool set_integer(T& field, std::string_view value, T least, T most) {
  const auto parsed = number_in<T>(value, least, most);
  field = parsed.value_or(field);
  return parsed.has_value();
}

bool set_blackholes(FaultSpec& spec, std::string_view value) {
  if (value.ends_with('%')) {
    const auto percent = number_in<double>(value.substr(0, value.size() - 1), 0.0, 100.0);
    spec.blackhole_percent = percent.value_or(0);
    return percent.has_value();
  }
  while (true) {
    const std::size_t plus = value.find('+');
    const auto path = number_in<unsigned>(value.substr(0, plus), 0, 255);
    if (!path) return false;
    spec.blackholes.push_back(static_cast<wire::PathIndex>(*path));
    if (plus == value.npos) return true;
    value.remove_prefix(plus + 1);
  }
}

// Returns nullopt on success.
std::optional<Error> set_key(FaultSpec& spec, std::string_view key, std::string_view value) {
  struct Share {
    std::string_view key;
    double FaultSpec::*field;
  };
  constexpr std::array<Share, 4> kShares = {{{"drop", &FaultSpec::drop},
                                             {"dup", &FaultSpec::duplicate},
                                             {"reorder", &FaultSpec::reorder},
                                             {"corrupt", &FaultSpec::corrupt}}};
  const auto check = [&](bool ok, std::string_view range) {
    return ok ? std::nullopt : std::optional<Error>(bad_value(key, value, range));
  };
  for (const Share& share : kShares)
    if (key == share.key) return check(set_share(spec.*share.field, value), "a share from 0 to 1");
  if (key == "delay_us" || key == "jitter_us") {
    Duration& field = key == "delay_us" ? spec.delay : spec.jitter;
    return check(set_microseconds(field, value), "whole microseconds from 0 to 10000000");
  }
  if (key == "burst" || key == "reorder_packets") {
    std::uint32_t& field = key == "burst" ? spec.burst : spec.reorder_packets;
    return check(set_integer<std::uint32_t>(field, value, 1, 10000), "packets from 1 to 10000");
  }
  if (key == "seed") {
    return check(set_integer<std::uint64_t>(spec.seed, value, 0, UINT64_MAX),
                 "a whole number from 0 to 2^64-1");
  }
  if (key == "blackhole")
    return check(set_blackholes(spec, value), "paths from 0 to 255 (3+5) or a share of them (25%)");
  return Error{ErrorCode::kInvalidUsage, fmt::format("there is no fault \"{}\"", key),
               fmt::format("known are {}", kKeys)};
}

}  // namespace

bool FaultSpec::is_nothing() const {
  return drop == 0 && duplicate == 0 && reorder == 0 && corrupt == 0 && delay == Duration(0) &&
         jitter == Duration(0) && blackholes.empty() && blackhole_percent == 0;
}

Result<FaultSpec> parse_fault_spec(std::string_view text) {
  FaultSpec spec;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == item.npos) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("fault \"{}\" has no value", item),
                   "write key=value, separated by commas: drop=0.01,seed=7"};
    }
    const std::string_view key = item.substr(0, equals);
    if (!seen.insert(key).second)
      return Error{ErrorCode::kInvalidUsage, fmt::format("fault \"{}\" is given twice", key), ""};
    if (const auto error = set_key(spec, key, item.substr(equals + 1))) return *error;
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return spec;
}

std::string to_string(const FaultSpec& spec) {
  const FaultSpec standard;
  std::string text;
  const auto put = [&text](std::string_view key, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  };
  const auto put_unless = [&put](std::string_view key, const auto& value, const auto& usual) {
    if (value != usual) {
      put(key, value);
    }
  };
  const auto microseconds = [](Duration duration) { return duration.count() / 1000; };
  put_unless("drop", spec.drop, standard.drop);
  put_unless("burst", spec.burst, standard.burst);
  put_unless("dup", spec.duplicate, standard.duplicate);
  put_unless("reorder", spec.reorder, standard.reorder);
  put_unless("reorder_packets", spec.reorder_packets, standard.reorder_packets);
  put_unless("corrupt", spec.corrupt, standard.corrupt);
  put_unless("delay_us", microseconds(spec.delay), microseconds(standard.delay));
  put_unless("jitter_us", microseconds(spec.jitter), microseconds(standard.jitter));
  if (!spec.blackholes.empty()) {
    std::string paths;
    for (const wire::PathIndex path : spec.blackholes)
      paths += fmt::format("{}{}", paths.empty() ? "" : "+", path);
    put("blackhole", paths);
  } else if (spec.blackhole_percent > 0) {
    put("blackhole", fmt::format("{}%", spec.blackhole_percent));
  }
  put_unless("seed", spec.seed, standard.seed);
  return text;
}

}  // namespace dlcp::datapath
