#include "cli/doctor/net_abi.h"

#include <fmt/format.h>

#include "cli/commands.h"

namespace dlcp::cli {

int newest_net_abi(int version) {
  for (const NetAbiRow& row : kNetAbiRows) {
    if (version >= row.since) return row.newest;
  }
  return 0;
}

int net_abi_taken(int version) {
  const int newest = newest_net_abi(version);
  for (const int abi : kOurNetAbis) {  // NCCL looks older ones up too
    if (abi <= newest) return abi;
  }
  return 0;
}

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string net_abi_markdown() {
  std::string text =
      "| NCCL | newest net interface it looks up | takes from this plugin |\n|---|---|---|\n";
  for (const NetAbiRow& row : kNetAbiRows) {
    text += fmt::format("| {} | v{} | v{} |\n", row.releases, row.newest, net_abi_taken(row.since));
  }
  return text;
}

void add_abi(CLI::App& app, ExitCode& exit_code) {
  CLI::App* abi = app.add_subcommand("abi", "Which net interface each release of NCCL takes");
  abi->callback([&exit_code] {
    fmt::print("{}", net_abi_markdown());
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::cli
