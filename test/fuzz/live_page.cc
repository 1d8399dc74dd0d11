// A live page is memory that another process writes: whatever its contents, reading ends, and the
// output is printable and no wider than a terminal.
#include <cstring>
#include <memory>

#include "cli/stats/output/formats.h"
#include "cli/stats/pages/snapshot.h"
#include "fuzz_input.h"

using namespace dlcp;
using dlcp::test::require;

std::vector<std::string> fuzz_seeds() {
  return {std::string(64, '\0'), std::string("\2\0\0\0\0\0\0\0eth0\0\0\0\0", 16),
          std::string(300, '\377')};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 100'000) return 0;
  static const auto page = std::make_unique<engine::LivePage>();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(page.get());
  for (std::size_t at = 0; at < sizeof(engine::LivePage); at += size)
    std::memcpy(bytes + at, data, std::min(size, sizeof(engine::LivePage) - at));
  const std::vector<cli::ProcessSnapshot> processes = {cli::read_snapshot(7, *page)};
  for (const std::string& text : {cli::to_table(processes), cli::to_path_table(processes),
                                  cli::to_prometheus(processes, "host"), cli::to_json(processes)})
    for (const char c : text)
      require(c == '\n' || (c >= 0x20 && c < 0x7f), "only printable bytes are printed");
  return 0;
}
