#include "cli/doctor/nccl/net_abi.h"

#include <fmt/format.h>

#include "cli/command_line/output/document.h"
#include "cli/commands.h"

namespace dlcp::cli {

int newest_net_abi(int version) {
  for (const NetAbiRow& row : kNetAbiRows)
    if (version >= row.since) return row.newest;
  return 0;
}

int net_abi_taken(int version) {
  const int newest = newest_net_abi(version);
  for (const int abi : kOurNetAbis)  // newest first; NCCL also looks up older ones
    if (abi <= newest) return abi;
  return 0;
}

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void add_abi(CLI::App& app, ExitCode& exit_code) {
  const auto table = [] {
    Document document{
        {"NCCL", "newest net interface it looks up", "net interface used with this plugin"}, {}};
    for (const NetAbiRow& row : kNetAbiRows)
      document.rows.push_back({row.releases, fmt::format("v{}", row.newest),
                               fmt::format("v{}", net_abi_taken(row.since))});
    return document;
  };
  add_document_verb(app, exit_code, "abi",
                    "Which net interface each NCCL release uses with this plugin", table);
}

}  // namespace dlcp::cli
