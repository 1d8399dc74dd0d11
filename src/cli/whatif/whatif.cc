// `dlcp whatif`: what a faster network, or a setting, would gain a recorded job.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/command_line/output/json_text.h"
#include "cli/command_line/text_file.h"
#include "cli/commands.h"
#include "cli/whatif/page.h"
#include "cli/whatif/report.h"
#include "util/result.h"
#include "util/text/quantity.h"
#include "whatif/run/run_file.h"

namespace dlcp::cli {
namespace {

constexpr const char* kFooter = R"(Record a job first, with any network of NCCL:
  NCCL_PROFILER_PLUGIN=libnccl-net-dlcp.so DLCP_PROFILE_FILE=run-%r.json ...

Columns
  compute    no collective in flight  waiting    for a rank that is late
  network    transfers                receiving  share of the collectives' time
  overlap    share of the collectives' time beside another collective

Examples
  dlcp whatif run-*.json
  dlcp whatif run-*.json -o page.html
  dlcp whatif run-*.json --rate 40G,800G

Exit codes
  0 done   2 bad usage, or a file that is not a profile)";

struct WhatifOptions {
  std::vector<std::string> files;
  std::string rates;
  std::string output;
  bool json = false;
};

ExitCode fail(const Error& error) {
  fmt::print(stderr, "dlcp whatif: {}\n", error.message());
  return ExitCode::kUsage;
}

// "40G" or "1.5G", "100M"; in bit/s.
std::optional<double> parse_rate(std::string_view text) {
  double unit = 1;
  if (text.ends_with('G') || text.ends_with('M')) {
    unit = text.back() == 'G' ? 1e9 : 1e6;
    text.remove_suffix(1);
  }
  const auto number = parse_number(text);
  if (!number || !(*number * unit >= 1e5 && *number * unit <= 1e14)) return std::nullopt;
  return *number * unit;
}

Result<std::vector<double>> rates_of(const std::string& text) {
  std::set<double> rates(std::begin(whatif::kUsualRates), std::end(whatif::kUsualRates));
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const auto rate = parse_rate(one);
    if (!rate)
      return Error{ErrorCode::kInvalidUsage, fmt::format("--rate: '{}' is not a rate", one),
                   "give 0.1M to 100000G bits per second, as 40G or 2.5G, separated by commas"};
    rates.insert(*rate);
    at = end + 1;
  }
  return std::vector<double>(rates.begin(), rates.end());
}

Result<std::vector<whatif::Run>> read_runs(const std::vector<std::string>& files) {
  std::vector<whatif::Run> runs;
  // Communicator's ID and rank in it: one process has it. Containers may share host and process ID.
  using Member = std::pair<std::uint64_t, std::uint32_t>;
  std::set<Member> members;
  for (const std::string& file : files) {
    const auto text = read_text_file(file);
    if (!text) return text.error();
    auto run = whatif::read_run(text.value(), file);
    if (!run) return run.error();
    std::set<Member> own;
    for (const whatif::Communicator& one : run->communicators)
      own.emplace(one.id, one.rank);
    for (const Member& one : own)
      if (!members.insert(one).second)
        return Error{ErrorCode::kInvalidUsage,
                     fmt::format("'{}' is of the same process as a file before it", file),
                     "give one file for each rank"};
    runs.push_back(std::move(run).value());
  }
  std::sort(runs.begin(), runs.end(),
            [](const whatif::Run& a, const whatif::Run& b) { return a.rank < b.rank; });
  return runs;
}

ExitCode run(const WhatifOptions& options) {
  const auto rates = rates_of(options.rates);
  if (!rates) return fail(rates.error());
  const auto runs = read_runs(options.files);
  if (!runs) return fail(runs.error());
  const whatif::Answer answer = whatif::answer(runs.value(), rates.value());
  if (!options.output.empty()) {
    if (const auto written = write_text_file(options.output, whatif_page(answer)); !written)
      return fail(written.error());
  }
  fmt::print("{}", options.json ? json_text(whatif_json(answer), 2) + "\n" : whatif_text(answer));
  return ExitCode::kOk;
}

}  // namespace

void add_whatif(CLI::App& app, ExitCode& exit_code) {
  CLI::App& verb = add_verb(app, "whatif",
                            "Tells whether the network limits a recorded job, and what would help");
  auto options = std::make_shared<WhatifOptions>();
  WhatifOptions& o = *options;
  auto* files =
      add_texts(verb, "files", o.files, "Files that DLCP_PROFILE_FILE wrote, one per rank");
  add_text(verb, "--rate", o.rates, "Further rates in bit/s, as 40G or 2.5G, separated by commas");
  add_text(verb, "-o,--output", o.output, "Draw the answer here, as one HTML page");
  add_flag(verb, "--json", o.json, "One JSON object instead of text");
  complete(verb, kFooter, [=, &exit_code] {
    if (!given(files)) miss("files of DLCP_PROFILE_FILE");
    exit_code = run(*options);
  });
}

}  // namespace dlcp::cli
