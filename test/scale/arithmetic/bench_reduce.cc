// How fast one core reduces: blocks of N ranks that stay in the second-level cache, each
// implementation and type, in bytes of input. Reports the best of several rounds, because other
// load on the machine only slows them.
//
//   bench_reduce [--op sum|prod|max|min] [--block BYTES] [--set BYTES] [--seconds S] [--json]
//
// A block is --block bytes of each rank (65536), less where N of them would exceed --set (1 MiB).
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collective/reduce/reduce.h"
#include "speed.h"
#include "util/rng.h"

using namespace dlcp;
using collective::DataType;
using collective::ReduceOp;

namespace {

constexpr const char* kTypeNames[] = {"int8",   "uint8", "int32", "uint32", "int64",
                                      "uint64", "fp16",  "fp32",  "fp64",   "bf16"};
constexpr std::string_view kOpNames[] = {"sum", "prod", "max", "min"};
constexpr std::size_t kRanks[] = {2, 8, 64};

struct Options : scale::SpeedOptions {
  ReduceOp op = ReduceOp::kSum;
  std::size_t block = std::size_t{64} << 10;
};

// In bytes of input.
double speed(const Options& options, const collective::ReduceForm& form, DataType type,
             std::span<const std::byte* const> inputs, std::size_t bytes, std::byte* out) {
  const std::size_t all = bytes * inputs.size();
  const std::size_t passes = std::max<std::size_t>(1, options.set / all);
  return scale::best_speed(options.seconds, passes, all,
                           [&] { form.reduce(type, options.op, inputs, bytes, nullptr, out); });
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (options.take(argc, argv, i)) continue;
    const std::string_view option = argv[i];
    if (option == "--block" && i + 1 < argc) {
      options.block = std::stoul(argv[++i]);
    } else if (option == "--op" && i + 1 < argc) {
      const auto* const name = std::find(std::begin(kOpNames), std::end(kOpNames), argv[++i]);
      if (name == std::end(kOpNames)) return false;
      options.op = static_cast<ReduceOp>(name - std::begin(kOpNames));
    } else {
      return false;
    }
  }
  return options.block > 0 && options.set >= 64 * 64;
}

}  // namespace

int main(int argc, char** argv) {
  Options options{{.set = std::size_t{1} << 20, .seconds = 0.05}};
  if (!read_options(argc, argv, options)) {
    fmt::print(stderr,
               "usage: bench_reduce [--op sum|prod|max|min] [--block BYTES] [--set BYTES] "
               "[--seconds S] [--json]\n");
    return 2;
  }
  // Bytes that are finite floats of every type: no exponent is all ones.
  std::vector<std::byte> memory(options.set + options.block);
  Rng rng(1);
  for (auto& byte : memory)
    byte = static_cast<std::byte>(rng.below(256) & 0xbb);
  std::byte* const out = memory.data() + options.set;

  if (!options.json)
    fmt::print("{}, GB/s of input     N = 2     N = 8    N = 64\n",
               kOpNames[static_cast<std::size_t>(options.op)]);
  std::string rows;
  for (const auto& form : collective::reduce_forms()) {
    if (!form.supported) continue;
    for (std::size_t type = 0; type < collective::kDataTypes; ++type) {
      if (!options.json) fmt::print("{:10} {:8}", form.name, kTypeNames[type]);
      for (const std::size_t ranks : kRanks) {
        const std::size_t bytes = std::min(options.block, options.set / ranks) & ~std::size_t{63};
        std::vector<const std::byte*> inputs;
        for (std::size_t rank = 0; rank < ranks; ++rank)
          inputs.push_back(memory.data() + rank * bytes);
        const double reached =
            speed(options, form, static_cast<DataType>(type), inputs, bytes, out);
        if (!options.json) fmt::print(" {:9.1f}", reached);
        rows += fmt::format(R"({}{{"form": "{}", "type": "{}", "ranks": {}, "gb_per_s": {:.1f}}})",
                            rows.empty() ? "" : ", ", form.name, kTypeNames[type], ranks, reached);
      }
      if (!options.json) fmt::print("\n");
    }
  }
  if (options.json)
    fmt::print(R"({{"op": "{}", "block_bytes": {}, "rows": [{}]}})"
               "\n",
               kOpNames[static_cast<std::size_t>(options.op)], options.block, rows);
  return 0;
}
