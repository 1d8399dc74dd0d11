// F1: jobs with parameter servers on the fabric of 144 hosts from pFabric's publication.
#include <fmt/format.h>

#include <array>

#include "simulate/experiment/series.h"
#include "simulate/load/workloads.h"

namespace dlcp::simulate {
namespace {

// Parameters, four bytes each.
struct Model {
  const char* name;
  double mega_bytes;
};
constexpr std::array<Model, 4> kModels = {
    {{"ResNet50", 102}, {"VGG16", 553}, {"Inception-v3", 95}, {"Transformer", 260}}};

// Gradients are scaled to a part of the model's bytes, and the switches' shared buffer with them.
struct Scale {
  double part;
  double buffer_mb;
};

std::string name_of(const Scale& scale) {
  return fmt::format("1/{:.0f}, {:g} MB", scale.part, scale.buffer_mb);
}

ParameterServerPlan plan_of(const Scale& scale, bool quick) {
  ParameterServerPlan plan;
  plan.jobs = kModels.size();
  plan.workers = quick ? 3 : 32;
  plan.servers = quick ? 1 : 4;
  plan.tensors = quick ? 2 : 4;
  for (const Model& model : kModels)
    plan.bytes.push_back(static_cast<std::uint64_t>(model.mega_bytes * 1e6 / scale.part));
  return plan;
}

}  // namespace

Figure training_figure(const FigureWishes& wishes) {
  Series series("F1", "Training with parameter servers, compared with DCTCP and pFabric", wishes);
  const std::vector<Scale> scales =
      wishes.quick ? std::vector<Scale>{{1000, 37}, {1000, 0.2}}
                   : std::vector<Scale>{{16, 37}, {16, 4}, {256, 37}, {256, 4}, {1024, 4}};
  const ParameterServerPlan usual = plan_of(scales.front(), wishes.quick);
  series.parameter("fabric", wishes.quick ? "16 hosts, 4 leaves, 4 spines, 100 Gbit/s, 1 us links"
                                          : "144 hosts, 9 leaves x 16, 4 spines, 100 Gbit/s, 1 us "
                                            "links, 1:1");
  series.parameter("jobs", fmt::format("ResNet50, VGG16, Inception-v3, Transformer at the same "
                                       "time; {} workers and {} servers each, placed at random",
                                       usual.workers, usual.servers));
  series.parameter("case", fmt::format("gradient size as a share of the model's bytes, in {} "
                                       "tensors for each server; buffer of the switches of DLCP "
                                       "and DCTCP",
                                       usual.tensors));
  series.parameter("iteration", "push, then pull when all have pushed; pull is exact");
  struct Rival {
    const char* name;
    Contender contender;
    Duration timeout;
    double may_lose;
  };
  const Rival rivals[] = {
      {"dctcp, RTO 10 ms", Contender::kDctcp, 10ms, 0},
      {"dctcp, RTO 1 ms", Contender::kDctcp, 1ms, 0},
      {"dctcp, RTO 200 us", Contender::kDctcp, 200us, 0},
      {"pfabric", Contender::kPfabric, 0ns, 0},
      {"nscc", Contender::kNscc, 0ns, 0},
      {"dlcp, exact", Contender::kDlcp, 0ns, 0},
      {"dlcp, may lose 1%", Contender::kDlcp, 0ns, 0.01},
      {"dlcp, may lose 3%", Contender::kDlcp, 0ns, 0.03},
      {"dlcp, may lose 10%", Contender::kDlcp, 0ns, 0.1},
  };
  for (const Scale& scale : scales) {
    for (const Rival& rival : rivals) {
      Setting setting;
      setting.fabric = paper_fabric(wishes.quick);
      setting.contender = rival.contender;
      setting.timeout_min = rival.timeout;
      setting.switch_buffer_bytes = static_cast<std::size_t>(scale.buffer_mb * 1e6);
      ParameterServerPlan plan = plan_of(scale, wishes.quick);
      plan.may_lose = rival.may_lose;
      series.run({name_of(scale), rival.name, setting,
                  [plan](std::uint64_t seed) { return parameter_servers(plan, seed); }},
                 {completion(), mean_time(), tail_time(), sent_twice()});
    }
  }
  for (const char* ours : {"dlcp, exact", "dlcp, may lose 10%"}) {
    for (const char* theirs : {"dctcp, RTO 10 ms", "dctcp, RTO 1 ms", "pfabric", "nscc"})
      for (const char* metric : {"mean time", "p99 time"})
        series.compare(ours, theirs, metric);
  }
  for (const char* licensed : {"dlcp, may lose 1%", "dlcp, may lose 3%", "dlcp, may lose 10%"})
    series.compare(licensed, "dlcp, exact", "p99 time");
  return series.take();
}

}  // namespace dlcp::simulate
