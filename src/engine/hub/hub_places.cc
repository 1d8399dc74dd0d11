#include "engine/hub/hub_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "util/hash/siphash.h"

namespace dlcp::engine {

std::string to_string(const HubPlace& place) {
  const bool v6 = place.host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", place.host, place.port)
            : fmt::format("{}:{}", place.host, place.port);
}

Result<std::vector<HubPlace>> parse_hub_places(std::string_view text) {
  std::vector<HubPlace> places;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const bool bracketed = one.starts_with('[');
    const std::size_t close = bracketed ? one.find(']') : one.rfind(':');
    const bool bare = !bracketed && (close == one.npos || one.find(':') != close);
    HubPlace place;
    place.host = bare ? one : bracketed ? one.substr(1, close - 1) : one.substr(0, close);
    std::string_view port = bare || close == one.npos ? "" : one.substr(close + bracketed);
    if (!port.empty()) {
      port.remove_prefix(1);
      const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), place.port);
      if (code != std::errc() || end != port.data() + port.size() || place.port == 0)
        place.host.clear();
    }
    const bool letters = std::ranges::all_of(place.host, [](char c) { return c > ' ' && c < '~'; });
    if (place.host.empty() || !letters || (bracketed && close == one.npos)) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' is not a hub", one),
                   "give HOST or HOST:PORT, separated by commas"};
    }
    if (std::ranges::find(places, place) != places.end()) {
      return Error{ErrorCode::kInvalidUsage, fmt::format("'{}' occurs twice", one),
                   "name each hub once"};
    }
    places.push_back(std::move(place));
  }
  return places;
}

std::uint64_t hash_of(std::span<const HubPlace> places) {
  if (places.empty()) return 0;
  std::string all;
  for (const HubPlace& place : places)
    all += to_string(place) + ',';
  return std::max(siphash24({}, std::as_bytes(std::span(all))), std::uint64_t{1});
}

}  // namespace dlcp::engine
