// F2: the duration of a training step, by algorithm, speed and loss.
#include <fmt/format.h>

#include "simulate/experiment/series.h"
#include "simulate/load/training_step.h"

namespace dlcp::simulate {
namespace {

constexpr double kTeraFlops = 150;
// The default of DLCP_PATHS; 64 paths for each of 261,632 connections would not fit into memory.
constexpr std::size_t kPaths = 16;

struct Trouble {
  const char* name;
  double one_link;
  double all_links;
};
constexpr Trouble kClean{"no loss", 0, 0};
constexpr Trouble kGray{"0.1% on one link", 0.001, 0};
constexpr Trouble kAll[] = {
    kClean, kGray, {"0.1% on all", 0, 0.001}, {"1% on one link", 0.01, 0}, {"1% on all", 0, 0.01}};

struct Way {
  const char* name;
  AllReduce kind;
};
constexpr Way kWays[] = {{"ring", AllReduce::kRing},
                         {"hierarchical", AllReduce::kHierarchical},
                         {"direct", AllReduce::kDirect}};

// 512 hosts, or 16, with a step of part of a model's bytes and arithmetic.
struct Scene {
  FabricPlan fabric;
  double bytes;  // of gradients

  Scene(bool quick, double gbit_per_s) : bytes(quick ? 3.2e6 : 25.6e6) {
    Wire wire;
    wire.gbit_per_s = gbit_per_s;
    fabric = quick ? leaf_spine(4, 4, 4, wire, wire) : leaf_spine(32, 16, 16, wire, wire);
  }
};

std::string name_of(const Model& model, double gbit_per_s, const Trouble& trouble) {
  return fmt::format("{}, {:.0f}G, {}", model.name, gbit_per_s, trouble.name);
}

void add(Series& series, const FigureWishes& wishes, const Model& model, double gbit_per_s,
         const Trouble& trouble, std::span<const Way> ways) {
  const Scene scene(wishes.quick, gbit_per_s);
  double parameters = 0;
  for (const LayerGroup& group : model.layers)
    parameters += group.mega_parameters * 4e6;
  const StepPlan plan = step_of(model, kTeraFlops, scene.bytes / parameters);
  const Metric exposed{"waiting", "us", [compute = plan.compute](const Outcome& o) {
                         return static_cast<double>((o.took - compute).count()) * 1e-3;
                       }};
  for (const Way& way : ways) {
    Setting setting;
    setting.fabric = scene.fabric;
    setting.loss = trouble.all_links;
    setting.paths = kPaths;
    if (trouble.one_link > 0) {
      CableFault fault;
      fault.tier = Fabric::Tier::kLeafUp;
      fault.loss = trouble.one_link;
      fault.both_ways = true;
      setting.faults = {fault};
    }
    series.run({name_of(model, gbit_per_s, trouble), way.name, setting,
                [&](std::uint64_t) {
                  return training_step(plan.buckets, way.kind, scene.fabric.leaves(),
                                       scene.fabric.hosts_per_leaf);
                }},
               {completion(), exposed});
  }
}

}  // namespace

Figure iteration_figure(const FigureWishes& wishes) {
  Series series("F2", "A training step", wishes);
  const Scene scene(wishes.quick, 100);
  series.parameter(
      "fabric", fmt::format("{} hosts, {} leaves, {} spines, 1 us links, 1:1", scene.fabric.hosts(),
                            scene.fabric.leaves(), scene.fabric.spines_per_pod));
  series.parameter("model", fmt::format("{:.1f} MB of its gradients and the same share of its "
                                        "arithmetic, at {:.0f} Tflop/s",
                                        scene.bytes * 1e-6, kTeraFlops));
  series.parameter("paths", fmt::format("{}", kPaths));
  series.parameter("step",
                   "forward, backward; layers are summed as their gradients become available");
  const Model& first = models().front();
  std::size_t troubles = wishes.quick ? 3 : std::size(kAll);
  for (const double gbit_per_s : {100.0, 400.0})
    for (std::size_t i = 0; i < troubles; ++i)
      add(series, wishes, first, gbit_per_s, kAll[i], kWays);
  for (std::size_t i = 1; i < models().size(); ++i)
    for (const Trouble& trouble : {kClean, kGray})
      add(series, wishes, models()[i], 100, trouble, std::span(kWays, 1));
  for (const Model& model : models()) {
    for (const Way& way : kWays) {
      const double clean = series.mean(name_of(model, 100, kClean), way.name, "completion");
      const double gray = series.mean(name_of(model, 100, kGray), way.name, "completion");
      if (clean > 0 && gray > 0)
        series.note(
            fmt::format("{}, 100G, {}: with 0.1% loss on one link it takes {:.3f} times as long "
                        "as without loss",
                        model.name, way.name, gray / clean));
    }
  }
  return series.take();
}

}  // namespace dlcp::simulate
