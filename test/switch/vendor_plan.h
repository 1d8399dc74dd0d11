// A hand-made plan of one switch, which tests a vendor's renderer separately: four queues, two port
// groups and the site's map. Real plans come from switch/plan.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "switch/vendors/vendor.h"

namespace dlcp::test {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline fabric::SiteConfig import_text(const fabric::Vendor& vendor, const std::string& text) {
  auto imported = vendor.import({"running", text});
  for (const auto& problem : imported.problems)
    if (problem.severity == fabric::Severity::kError)
      throw std::runtime_error(fabric::to_text(problem));
  return std::move(*imported.value);
}

inline fabric::QueuePlan make_queue(const char* name, SwitchQueue carries, int queue,
                                    unsigned weight) {
  fabric::QueuePlan plan;
  plan.name = name;
  plan.carries = {carries};
  plan.queue = plan.traffic_class = static_cast<std::uint8_t>(queue);
  plan.weight = weight;
  plan.limit_bytes = 4'000'000;
  return plan;
}

// The queues of control, exact, urgent and bulk.
inline fabric::SwitchPlan make_plan(fabric::SiteConfig site, const std::vector<std::string>& hosts,
                                    const std::vector<std::string>& uplinks,
                                    std::array<int, 4> queues = {7, 5, 4, 2}) {
  using namespace fabric;
  SwitchPlan plan;
  plan.name = "leaf1";
  plan.classes = kTrafficClasses;
  plan.capabilities.cell_bytes = 256;
  plan.site = std::make_shared<const SiteConfig>(std::move(site));
  for (int dscp = 0; dscp < kDscpCount; ++dscp) {
    const auto traffic_class = plan.site->dscp_to_class[dscp];
    plan.dscp[dscp].mapped = traffic_class.has_value();
    plan.dscp[dscp].traffic_class = traffic_class.value_or(0);
    plan.dscp[dscp].queue = plan.site->class_to_queue[traffic_class.value_or(0)].value_or(0);
  }
  for (const auto& row : plan.classes) {
    plan.dlcp_dscps |= std::uint64_t{1} << row.dscp;
    const auto queue = static_cast<std::uint8_t>(queues[static_cast<int>(row.queue)]);
    const auto precedence = static_cast<std::uint8_t>(row.early == EarlyTreatment::kDrop ? 2 : 0);
    plan.dscp[row.dscp] = {Owner::kDlcp, true, queue, queue, precedence};
  }
  PortGroupPlan group;
  group.queues = {make_queue("control", SwitchQueue::kStrictHigh, queues[0], 0),
                  make_queue("exact", SwitchQueue::kExact, queues[1], 20),
                  make_queue("urgent", SwitchQueue::kUrgent, queues[2], 25),
                  make_queue("bulk", SwitchQueue::kBulk, queues[3], 15)};
  group.queues[0].strict = true;
  group.queues[0].shape_bits_per_second = 20'000'000'000;
  group.queues[0].levels = {{{TrafficClass::kControl}, {40}, 1, 0, true, 0, {}}};
  group.queues[1].mark_bytes = 103'680;
  group.queues[1].levels = {{{TrafficClass::kExact}, {18}, 1, 0, true, 0, {}}};
  for (int i = 2; i < 4; ++i) {
    group.queues[i].mark_bytes = 150'016;
    group.queues[i].levels = {
        {{TrafficClass::kBulkMiddle}, {12, 14}, 0.5, 2, false, 150'016, 150'016},
        {{TrafficClass::kBulkProtected}, {10}, 0.5, 0, true, 750'000, {}}};
  }
  group.group.role = PortRole::kHost;
  group.group.ports = hosts;
  group.group.bits_per_second = 400'000'000'000;
  plan.groups.push_back(group);
  group.group.role = PortRole::kFabric;
  group.group.ports = uplinks;
  group.queues[3].mark_bytes = group.queues[3].levels[0].drop_bytes = 200'192;
  if (!uplinks.empty()) plan.groups.push_back(group);
  return plan;
}

inline const fabric::OutputFile& file_of(const fabric::Rendering& rendering,
                                         std::string_view path) {
  for (const auto& file : rendering.files)
    if (file.path == path) return file;
  throw std::runtime_error("no file " + std::string(path));
}

inline std::string problems_of(const fabric::Rendering& rendering) {
  std::string text;
  for (const auto& problem : rendering.problems)
    text += fabric::to_text(problem) + "\n";
  return text;
}

}  // namespace dlcp::test
