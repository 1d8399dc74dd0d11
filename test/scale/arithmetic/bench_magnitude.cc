// How fast packets are scored on one core: 4 KiB payloads that stay in the second-level cache, each
// implementation and type, compared with memcpy of the same packets. Reports the best of several
// rounds, because other load on the machine only slows them.
//
//   bench_magnitude [--packet BYTES] [--set BYTES] [--seconds S] [--json]
#include <fmt/core.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gradient/magnitude.h"
#include "speed.h"
#include "util/rng.h"

using namespace dlcp;
using gradient::ElementType;

namespace {

struct Options : scale::SpeedOptions {
  std::size_t packet = 4096;
};

template <class Pass>
double speed(const Options& options, Pass pass) {
  constexpr std::size_t kPassesPerRound = 32;
  return scale::best_speed(options.seconds, kPassesPerRound, options.set, pass);
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (options.take(argc, argv, i)) continue;
    if (argv[i] != std::string_view("--packet") || i + 1 == argc) return false;
    options.packet = std::stoul(argv[++i]);
  }
  options.set -= options.packet == 0 ? options.set : options.set % options.packet;
  return options.packet > 0 && options.packet % 4 == 0 && options.set > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options{{.set = std::size_t{256} << 10, .seconds = 0.5}};
  if (!read_options(argc, argv, options)) {
    fmt::print(stderr,
               "usage: bench_magnitude [--packet BYTES] [--set BYTES] [--seconds S] [--json]\n");
    return 2;
  }
  // Bytes that are finite floats of every type: no exponent is all ones.
  std::vector<std::byte> packets(options.set);
  Rng rng(1);
  for (auto& byte : packets)
    byte = static_cast<std::byte>(rng.below(256) & 0xbb);
  std::vector<std::byte> copy(options.packet);
  volatile float sink = 0;

  const double memcpy_speed = speed(options, [&] {
    for (std::size_t at = 0; at < packets.size(); at += options.packet) {
      std::memcpy(copy.data(), packets.data() + at, options.packet);
      asm volatile("" : : "r"(copy.data()) : "memory");
    }
  });
  struct Type {
    ElementType type;
    const char* name;
  };
  constexpr Type kTypes[] = {{ElementType::kFloat32, "fp32"},
                             {ElementType::kFloat16, "fp16"},
                             {ElementType::kBfloat16, "bf16"}};
  std::string rows;
  if (!options.json) fmt::print("{:10} {:6} {:8.1f} GB/s\n", "memcpy", "", memcpy_speed);
  for (const auto& form : gradient::magnitude_forms()) {
    if (!form.supported) continue;
    for (const Type& type : kTypes) {
      const double reached = speed(options, [&] {
        float sum = 0;
        for (std::size_t at = 0; at < packets.size(); at += options.packet)
          sum += form.mean(type.type, std::span(packets).subspan(at, options.packet));
        sink = sum;
      });
      rows += fmt::format(
          R"({}{{"form": "{}", "type": "{}", "gb_per_s": {:.1f}, "of_memcpy": {:.2f}}})",
          rows.empty() ? "" : ", ", form.name, type.name, reached, reached / memcpy_speed);
      if (!options.json) {
        fmt::print("{:10} {:6} {:8.1f} GB/s  {:.2f} of memcpy\n", form.name, type.name, reached,
                   reached / memcpy_speed);
      }
    }
  }
  if (options.json) {
    fmt::print(R"({{"packet_bytes": {}, "set_bytes": {}, "memcpy_gb_per_s": {:.1f}, "rows": [{}]}})"
               "\n",
               options.packet, options.set, memcpy_speed, rows);
  }
  return 0;
}
