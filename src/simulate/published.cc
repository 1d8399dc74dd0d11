// The workloads of published results, on fabrics of the same shape.
#include <fmt/format.h>

#include "simulate/contest.h"
#include "simulate/load/workloads.h"
#include "simulate/validation.h"

namespace dlcp::simulate {
namespace {

constexpr double kTolerance = 0.10;
constexpr std::size_t kRadix = 16;  // 1024 hosts
constexpr std::uint64_t kLarge = 2'000'000;

struct Result {
  const char* name;
  double published_us;
  std::size_t senders;  // 0: a permutation
  std::uint64_t bytes;
  std::size_t oversubscription;
  bool quick;
};

constexpr Result kResults[] = {
    {"NSCC, 15 x 2 MB to 1", 2478.5, 15, kLarge, 1, true},
    {"NSCC, 127 x 2 MB to 1", 21'029.3, 127, kLarge, 1, false},
    {"NSCC, 1023 x 100 kB to 1", 10'556, 1023, 100'000, 1, false},
    {"NSCC, permutation of 1024", 200.5, 0, kLarge, 1, false},
    {"NSCC, the same, 4:1", 785.8, 0, kLarge, 4, false},
};

}  // namespace

std::vector<Check> published(bool quick, const Progress& progress) {
  std::vector<Check> checks;
  for (const Result& result : kResults) {
    if (quick && !result.quick) continue;
    if (progress) progress(result.name);
    Setting setting;
    setting.contender = Contender::kNscc;
    setting.fabric = fat_tree(kRadix, Wire{}, result.oversubscription);
    const std::size_t hosts = setting.fabric.hosts();
    const Outcome outcome =
        run(setting, result.senders == 0 ? permutation(hosts, result.bytes, 1)
                                         : incast(hosts, result.senders, result.bytes, 1));
    checks.push_back({result.name, "us", result.published_us,
                      static_cast<double>(outcome.took_acknowledged.count()) * 1e-3, kTolerance,
                      "uet-htsim 40ccb05"});
  }
  return checks;
}

}  // namespace dlcp::simulate
