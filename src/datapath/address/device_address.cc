// Encodes a DeviceAddress in an EndpointAddress; see the header for the layout.
#include "datapath/address/device_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "datapath/address/blob.h"

namespace dlcp::datapath {
namespace {

struct KindRow {
  LocatorKind kind;
  std::size_t bytes;  // of one locator
  std::size_t count_max;
  std::uint32_t least;  // smaller values are rejected
  bool scoped;          // false: the IP address needs no scope, as in a GID
};
// In the order of their lists.
constexpr KindRow kKinds[] = {
    {LocatorKind::kUdpPort, 2, kUdpPortsMax, kUdpPortMin, true},
    {LocatorKind::kQueuePair, 3, 1, 1, false},
};

const KindRow* row_of(LocatorKind kind) {
  const auto* row = std::ranges::find(kKinds, kind, &KindRow::kind);
  return row == std::end(kKinds) ? nullptr : row;
}

constexpr std::size_t lists_bytes_max() {
  std::size_t bytes = 0;
  for (const KindRow& row : kKinds)
    bytes += 2 + row.bytes * row.count_max;
  return bytes;
}
static_assert(1 + 16 + 4 + lists_bytes_max() <= wire::EndpointAddress::kMaxBytes);

constexpr std::size_t ip_bytes_of(IpFamily family) {
  return family == IpFamily::kV4 ? 4 : 16;
}

}  // namespace

void DeviceAddress::add(LocatorKind kind, std::uint32_t value) {
  if (count_ == locators_.size()) return;
  std::size_t at = count_++;
  for (; at > 0 && locators_[at - 1].kind > kind; --at)
    locators_[at] = locators_[at - 1];
  locators_[at] = {kind, value};
}

std::span<const Locator> DeviceAddress::of(LocatorKind kind) const {
  const auto all = locators();
  const auto is_of = [kind](const Locator& locator) { return locator.kind == kind; };
  const auto begin = std::ranges::find_if(all, is_of);
  return {begin, std::find_if_not(begin, all.end(), is_of)};
}

DeviceAddress DeviceAddress::only(LocatorKind kind) const {
  DeviceAddress part;
  part.ip = ip;
  const KindRow* row = row_of(kind);
  if (row == nullptr || !row->scoped) part.ip.scope = 0;
  for (const Locator& locator : of(kind))
    part.add(kind, locator.value);
  return part;
}

wire::EndpointAddress encode(const DeviceAddress& address) {
  wire::EndpointAddress blob;
  BlobWriter to(blob.bytes);
  to.put(static_cast<std::uint32_t>(address.ip.family), 1);
  for (std::size_t i = 0; i < ip_bytes_of(address.ip.family); ++i)
    to.put(address.ip.bytes[i], 1);
  to.put(address.ip.scope, 4);
  for (const KindRow& row : kKinds) {
    auto list = address.of(row.kind);
    list = list.first(std::min(list.size(), row.count_max));
    if (list.empty()) continue;
    to.put(static_cast<std::uint32_t>(row.bytes << 4 | static_cast<unsigned>(row.kind)), 1);
    to.put(static_cast<std::uint32_t>(list.size()), 1);
    for (const Locator& locator : list)
      to.put(locator.value, row.bytes);
  }
  blob.size = static_cast<std::uint8_t>(to.size());
  return blob;
}

namespace {

bool read_locators(BlobReader& in, DeviceAddress& address) {
  const std::uint32_t form = in.get(1);
  const std::size_t count = in.get(1);
  const std::size_t bytes = form >> 4;
  const auto kind = static_cast<LocatorKind>(form & 0xf);
  const KindRow* row = row_of(kind);
  if (row == nullptr) {
    in.get(bytes * count);
    return in.ok() && bytes * count != 0;
  }
  if (bytes != row->bytes || count == 0 || count > row->count_max || address.has(kind))
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t value = in.get(bytes);
    if (value < row->least) return false;
    address.add(kind, value);
  }
  return in.ok();
}

}  // namespace

std::optional<DeviceAddress> decode_device_address(const wire::EndpointAddress& blob) {
  if (blob.size > blob.bytes.size()) return std::nullopt;
  BlobReader in(std::span(blob.bytes).first(blob.size));
  DeviceAddress address;
  const std::uint32_t family = in.get(1);
  if (family != 4 && family != 6) return std::nullopt;
  address.ip.family = static_cast<IpFamily>(family);
  for (std::size_t i = 0; i < ip_bytes_of(address.ip.family); ++i)
    address.ip.bytes[i] = static_cast<std::uint8_t>(in.get(1));
  address.ip.scope = in.get(4);
  if (!in.ok() || !address.ip.is_unicast() ||
      (address.ip.scope != 0 && !address.ip.is_link_local()))
    return std::nullopt;
  while (!in.done())
    if (!read_locators(in, address)) return std::nullopt;
  return in.ok() && !address.locators().empty() ? std::optional(address) : std::nullopt;
}

DeviceAddress join(const DeviceAddress& first, const DeviceAddress& second) {
  DeviceAddress both;
  both.ip = first.ip;
  for (const KindRow& row : kKinds)
    for (const Locator& locator : (first.has(row.kind) ? first : second).of(row.kind))
      both.add(row.kind, locator.value);
  return both;
}

std::string to_string(const DeviceAddress& address) {
  const std::string host = to_string(address.ip);
  const auto ports = address.of(LocatorKind::kUdpPort);
  if (ports.empty()) {
    const auto pair = address.of(LocatorKind::kQueuePair);
    return fmt::format("{} queue pair {}", host, pair.empty() ? 0 : pair.front().value);
  }
  std::string text = address.ip.family == IpFamily::kV4
                         ? fmt::format("{}:{}", host, ports.front().value)
                         : fmt::format("[{}]:{}", host, ports.front().value);
  if (ports.size() > 1) text += fmt::format("(+{})", ports.size() - 1);
  return text;
}

}  // namespace dlcp::datapath
