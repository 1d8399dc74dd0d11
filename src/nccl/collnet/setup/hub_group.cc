#include "nccl/collnet/setup/hub_group.h"

#include <algorithm>
#include <chrono>

#include "wire/codec.h"

namespace dlcp::nccl {
namespace {

constexpr std::size_t kHubsMax = 256;

// Derived from the ranks' listeners, which are unique to the group.
engine::HubJobId job_of(std::span<const Handle> handles) {
  std::vector<std::byte> all;
  wire::Writer out(all);
  for (const Handle& handle : handles) {
    out.put(handle.listener.number);
    out.put(handle.listener.secret.low);
    out.put(handle.listener.secret.high);
  }
  return {siphash24({1, 0}, all), siphash24({2, 0}, all)};
}

}  // namespace

Result<std::vector<engine::HubPlace>> hub_places(const engine::Settings& settings) {
  auto places = engine::parse_hub_places(settings.collnet_hubs);
  if (!places) {
    return Error{places.error().code, "DLCP_COLLNET_HUBS: " + places.error().what,
                 places.error().hint};
  }
  if (places.value().size() > kHubsMax)
    return Error{ErrorCode::kInvalidUsage, "DLCP_COLLNET_HUBS names more than 256 hubs", ""};
  if (!places.value().empty() && !settings.plan_file.empty()) {
    return Error{ErrorCode::kInvalidUsage, "DLCP_COLLNET_HUBS and DLCP_PLAN are both set",
                 "unset one of them on all ranks"};
  }
  if (!places.value().empty() && !settings.collnet_switch.empty()) {
    return Error{ErrorCode::kInvalidUsage, "DLCP_COLLNET_HUBS and DLCP_COLLNET_SWITCH are both set",
                 "unset one of them on all ranks"};
  }
  return places;
}

Result<engine::VisitedHubs> come_to_hubs(std::span<const engine::HubPlace> places,
                                         const engine::Settings& settings,
                                         const engine::GroupWord& us,
                                         std::span<const Handle> handles) {
  if (places.empty()) return engine::VisitedHubs{};
  const Handle& own = handles[us.rank];
  engine::HubJoin join;
  join.job = job_of(handles);
  join.us = us;
  join.timeout_s = static_cast<std::uint32_t>(
      std::chrono::ceil<std::chrono::seconds>(settings.collnet_timeout).count());
  join.secret_fingerprint = own.secret_fingerprint;
  join.encrypts = own.terms.encrypts;
  join.peer = {own.listener, own.address};
  return engine::visit_hubs(places, join, settings.hub_token, settings.collnet_timeout / 2);
}

}  // namespace dlcp::nccl
