#include "datapath/verbs/placement/links/introduction.h"

#include "datapath/address/blob.h"
#include "util/check.h"

namespace dlcp::datapath {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kMtuMin = 1;
constexpr std::uint8_t kMtuMax = 5;

static_assert(6 + 4 * kTrafficClassCount + 3 * kPathsPerLinkMax <= Introduction::kMaxBytes);
static_assert(10 + 4 * kTrafficClassCount + 6 * kReliablePathsPerLinkMax <=
              Introduction::kMaxBytes);

bool is_reliable(const LinkDescription& link) {
  return link.transport == PlacementTransport::kRc;
}

bool read_class(BlobReader& in, LinkDescription& link, std::size_t& paths) {
  const std::uint32_t traffic_class = in.get(1);
  const std::uint32_t count = in.get(1);
  const std::uint32_t connected = in.get(2);
  paths += count;
  if (!in.ok() || traffic_class >= kTrafficClassCount || count == 0 || count > kPathsPerClassMax ||
      paths > paths_per_link_max(link.transport) || connected >> count != 0 ||
      !link.classes[traffic_class].empty())
    return false;
  for (std::uint32_t p = 0; p < count; ++p) {
    const std::uint32_t own = in.get(3);
    const std::uint32_t other = is_reliable(link) ? in.get(3) : 0;
    link.classes[traffic_class].push_back({own, (connected >> p & 1) != 0, other});
  }
  return in.ok();
}

}  // namespace

Introduction encode(const LinkDescription& link) {
  Introduction out;
  BlobWriter to(out.bytes);
  std::uint32_t classes = 0;
  std::size_t paths = 0;
  for (const auto& of_class : link.classes) {
    check(of_class.size() <= kPathsPerClassMax, "a class has at most kPathsPerClassMax paths");
    classes += of_class.empty() ? 0 : 1;
    paths += of_class.size();
  }
  check(paths <= paths_per_link_max(link.transport), "a link has at most so many paths");
  to.put(kVersion, 1);
  to.put(static_cast<std::uint32_t>(link.transport), 1);
  to.put(link.mtu, 1);
  to.put(classes, 1);
  to.put(link.receives_per_path, 2);
  if (is_reliable(link)) to.put(link.version, 4);
  for (std::size_t c = 0; c < link.classes.size(); ++c) {
    const auto& of_class = link.classes[c];
    if (of_class.empty()) continue;
    std::uint32_t connected = 0;
    for (std::size_t p = 0; p < of_class.size(); ++p)
      connected |= of_class[p].is_connected ? 1u << p : 0;
    to.put(static_cast<std::uint32_t>(c), 1);
    to.put(static_cast<std::uint32_t>(of_class.size()), 1);
    to.put(connected, 2);
    for (const auto& path : of_class) {
      to.put(path.queue_pair, 3);
      if (is_reliable(link)) to.put(path.connected_to, 3);
    }
  }
  out.size = static_cast<decltype(out.size)>(to.size());
  return out;
}

std::optional<LinkDescription> decode_introduction(std::span<const std::byte> bytes) {
  BlobReader in(bytes);
  LinkDescription link;
  if (in.get(1) != kVersion) return std::nullopt;
  const std::uint32_t transport = in.get(1);
  link.mtu = static_cast<std::uint8_t>(in.get(1));
  const std::uint32_t classes = in.get(1);
  link.receives_per_path = static_cast<std::uint16_t>(in.get(2));
  if (!in.ok() || link.mtu < kMtuMin || link.mtu > kMtuMax || link.receives_per_path == 0 ||
      (transport != static_cast<std::uint32_t>(PlacementTransport::kUc) &&
       transport != static_cast<std::uint32_t>(PlacementTransport::kRc)))
    return std::nullopt;
  link.transport = static_cast<PlacementTransport>(transport);
  if (is_reliable(link)) link.version = in.get(4);
  std::size_t paths = 0;
  for (std::uint32_t c = 0; c < classes; ++c)
    if (!read_class(in, link, paths)) return std::nullopt;
  if (!in.ok() || !in.done()) return std::nullopt;
  return link;
}

}  // namespace dlcp::datapath
