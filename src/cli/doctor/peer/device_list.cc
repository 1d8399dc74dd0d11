#include "cli/doctor/peer/device_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "datapath/udp/interfaces/interfaces.h"
#include "engine/settings/environment.h"
#include "engine/settings/settings.h"

namespace dlcp::cli {
namespace {

constexpr std::string_view kQuestion = "DLCPdvq1";
constexpr std::string_view kAnswer = "DLCPdva1";
constexpr std::size_t kHeadBytes = 16;
constexpr std::size_t kNameBytesMax = 64;

std::vector<std::byte> frame_of(std::string_view magic, std::uint64_t session,
                                std::string_view text, std::size_t bytes) {
  std::vector<std::byte> frame(bytes);
  std::memcpy(frame.data(), magic.data(), magic.size());
  std::memcpy(frame.data() + magic.size(), &session, sizeof session);
  const auto kept = std::as_bytes(std::span(text.substr(0, frame.size() - kHeadBytes)));
  std::ranges::copy(kept, frame.begin() + kHeadBytes);
  return frame;
}

std::optional<std::uint64_t> session_in(std::string_view magic, std::span<const std::byte> frame) {
  if (frame.size() < kDeviceFrameBytesMin || frame.size() > kDeviceFrameBytes ||
      std::memcmp(frame.data(), magic.data(), magic.size()) != 0)
    return std::nullopt;
  std::uint64_t session = 0;
  std::memcpy(&session, frame.data() + magic.size(), sizeof session);
  return session;
}

// Removes the next word, up to `end`, from the text and returns it.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return word;
}

bool is_printable(std::string_view word) {
  return !word.empty() && word.size() <= kNameBytesMax &&
         std::ranges::all_of(
             word, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

Result<std::vector<NamedDevice>> devices_of_this_host() {
  const auto settings = engine::process_settings();
  if (!settings) return settings.error();
  const auto chosen =
      datapath::own_interfaces(settings.value().interfaces, settings.value().family);
  if (!chosen) return chosen.error();
  std::vector<NamedDevice> devices;
  for (const auto& interface : chosen.value())
    devices.push_back({interface.name, interface.ip});
  return devices;
}

std::vector<std::byte> encode_device_question(std::uint64_t session, std::size_t bytes) {
  return frame_of(kQuestion, session, {}, bytes);
}

std::optional<std::uint64_t> decode_device_question(std::span<const std::byte> frame) {
  return session_in(kQuestion, frame);
}

std::vector<std::byte> encode_device_answer(std::uint64_t session, const DeviceAnswer& answer,
                                            std::size_t bytes) {
  std::string text =
      fmt::format("{} {}\n", datapath::to_string(answer.seen_from), answer.seen_port);
  for (const NamedDevice& device : answer.devices) {
    auto ip = device.ip;
    ip.scope = 0;  // valid only on this host
    const std::string line = fmt::format("{} {}\n", device.name, datapath::to_string(ip));
    if (text.size() + line.size() <= bytes - kHeadBytes) text += line;
  }
  return frame_of(kAnswer, session, text, bytes);
}

std::optional<DeviceAnswer> decode_device_answer(std::uint64_t session,
                                                 std::span<const std::byte> frame) {
  if (session_in(kAnswer, frame) != session) return std::nullopt;
  std::string_view text(reinterpret_cast<const char*>(frame.data()) + kHeadBytes,
                        frame.size() - kHeadBytes);
  text = text.substr(0, text.find('\0'));
  DeviceAnswer answer;
  std::string_view first = take(text, '\n');
  const auto from = datapath::parse_ip_address(take(first, ' '));
  const auto port = std::from_chars(first.data(), first.data() + first.size(), answer.seen_port);
  if (!from || port.ec != std::errc()) return std::nullopt;
  answer.seen_from = from.value();
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view name = take(line, ' ');
    const auto ip = datapath::parse_ip_address(line);
    if (!ip || !is_printable(name)) return std::nullopt;
    answer.devices.push_back({std::string(name), ip.value()});
  }
  return answer;
}

}  // namespace dlcp::cli
