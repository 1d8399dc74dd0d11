#include "switch/plan/queues/site_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace dlcp::fabric {
namespace {

constexpr std::size_t kQueuesWanted = 4;  // control, exact, urgent and bulk

bool has_bit(std::uint64_t bits, unsigned position) {
  return (bits >> position & 1) != 0;
}

// Calls `use` with (dscp, class) for every DSCP that remains the site's and has a class.
template <class Use>
void each_site_dscp(const SiteConfig& site, std::uint64_t dlcp_dscps, Use use) {
  for (unsigned dscp = 0; dscp < kDscpCount; ++dscp) {
    if (has_bit(dlcp_dscps | site.dlcp_dscps, dscp)) continue;
    const auto traffic_class =
        site.dscp_to_class[dscp] ? site.dscp_to_class[dscp] : site.unmapped_class;
    if (traffic_class) use(static_cast<std::uint8_t>(dscp), *traffic_class);
  }
}

bool is_given_up(const SiteConfig& site, std::uint8_t queue) {
  return has_bit(site.permitted_queues, queue);
}

std::string list_of(const std::vector<std::uint8_t>& numbers) {
  std::string text;
  for (const std::uint8_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

std::uint8_t queue_of_class(const SiteConfig& site, std::uint8_t traffic_class) {
  return static_cast<std::uint8_t>(site.class_to_queue[traffic_class].value_or(traffic_class) %
                                   kQueueCount);
}

bool may_be_lossless(const SiteConfig& site, const Capabilities& capabilities, int queue) {
  const auto& own = capabilities.lossless_queues;
  return !site.imported && std::find(own.begin(), own.end(), queue) != own.end();
}

std::uint8_t queues_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps) {
  unsigned used = 1U << queue_of_class(site, site.default_class);
  each_site_dscp(site, dlcp_dscps, [&](std::uint8_t /*dscp*/, std::uint8_t traffic_class) {
    used |= 1U << queue_of_class(site, traffic_class);
  });
  for (unsigned queue = 0; queue < kQueueCount; ++queue) {
    const SiteQueue& row = site.queues[queue];
    const bool earlier = has_bit(site.dlcp_queues, queue);
    if ((row.in_use || row.configured) && !earlier) used |= 1U << queue;
  }
  used &= ~static_cast<unsigned>(site.permitted_queues);
  for (unsigned queue = 0; queue < kQueueCount; ++queue) {  // lossless queues are never given up
    const bool earlier = has_bit(site.dlcp_queues, queue);
    if (site.queues[queue].lossless && !earlier) used |= 1U << queue;
  }
  return static_cast<std::uint8_t>(used | site.pfc_priorities);
}

std::uint16_t classes_in_use(const SiteConfig& site, std::uint64_t dlcp_dscps) {
  unsigned used = site.pfc_priorities | 1U << site.default_class;
  each_site_dscp(site, dlcp_dscps, [&](std::uint8_t /*dscp*/, std::uint8_t traffic_class) {
    if (!is_given_up(site, queue_of_class(site, traffic_class))) used |= 1U << traffic_class;
  });
  return static_cast<std::uint16_t>(used);
}

FreeQueues free_queues(const SiteConfig& site, const Capabilities& capabilities,
                       std::uint64_t dlcp_dscps) {
  const std::uint8_t used = queues_in_use(site, dlcp_dscps);
  FreeQueues free;
  for (int queue = capabilities.queues - 1; queue >= 0; --queue) {
    const bool given = is_given_up(site, static_cast<std::uint8_t>(queue));
    if (has_bit(used, static_cast<unsigned>(queue))) continue;
    if (!given && may_be_lossless(site, capabilities, queue)) continue;
    if (queue != capabilities.control_plane_queue)
      free.any.push_back(static_cast<std::uint8_t>(queue));
    else
      free.control_plane = given;
  }
  return free;
}

std::vector<std::uint8_t> dscps_in_given_queues(const SiteConfig& site, std::uint64_t dlcp_dscps) {
  std::vector<std::uint8_t> dscps;
  each_site_dscp(site, dlcp_dscps, [&](std::uint8_t dscp, std::uint8_t traffic_class) {
    if (is_given_up(site, queue_of_class(site, traffic_class))) dscps.push_back(dscp);
  });
  return dscps;
}

std::string may_take_hint(const SiteConfig& site, const Capabilities& capabilities,
                          std::uint64_t dlcp_dscps) {
  std::array<int, kQueueCount> dscps{};
  each_site_dscp(site, dlcp_dscps, [&](std::uint8_t /*dscp*/, std::uint8_t traffic_class) {
    ++dscps[queue_of_class(site, traffic_class)];
  });
  std::vector<std::uint8_t> candidates;
  for (std::uint8_t queue = 0; queue < capabilities.queues; ++queue) {
    const bool kept = queue == capabilities.control_plane_queue ||
                      queue == queue_of_class(site, site.default_class) ||
                      site.queues[queue].lossless || may_be_lossless(site, capabilities, queue) ||
                      (site.queues[queue].strict && site.queues[queue].configured) ||
                      has_bit(site.pfc_priorities, queue);
    if (!kept) candidates.push_back(queue);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&dscps](std::uint8_t a, std::uint8_t b) { return dscps[a] < dscps[b]; });
  candidates.resize(std::min(candidates.size(), kQueuesWanted));
  if (candidates.empty()) return "";
  std::sort(candidates.begin(), candidates.end());
  return fmt::format(
      "if the site sends nothing through some queues, let DLCP use them: `site: {{may_take_queues: "
      "[{}]}}` (`dlcp-switch plan --explain` lists their DSCPs)",
      list_of(candidates));
}

}  // namespace dlcp::fabric
