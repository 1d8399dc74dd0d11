#include "whatif/run/run_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "util/text/json_depth.h"
#include "util/text/printable.h"

namespace dlcp::whatif {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "dlcp-profile";
constexpr int kVersion = 1;
constexpr const char* kColumns[] = {"communicator", "kind",        "sequence",
                                    "bytes",        "enqueued_ns", "start_ns",
                                    "end_ns",       "blocked_ns",  "overlap_ns"};
constexpr std::size_t kListMax = 4096;  // communicators, kinds
constexpr std::size_t kNameMax = 64;
constexpr std::int64_t kTimeMax = std::int64_t{1} << 60;  // 36 years
constexpr std::int64_t kBytesMax = std::int64_t{1} << 50;
constexpr std::int64_t kRanksMax = 1 << 24;

[[noreturn]] void bad(const std::string& what) {
  throw std::invalid_argument(what);
}

std::int64_t whole(const Json& json, const char* name, std::int64_t least, std::int64_t most) {
  if (!json.is_number_integer()) bad(fmt::format("{} is not a whole number", name));
  const bool too_large =
      json.is_number_unsigned() && json.get<std::uint64_t>() > static_cast<std::uint64_t>(kTimeMax);
  const std::int64_t value = too_large ? kTimeMax + 1 : json.get<std::int64_t>();
  if (value < least || value > most)
    bad(fmt::format("{} is {}, not within {} and {}", name, value, least, most));
  return value;
}

template <class Number>
Number number(const Json& object, const char* name, std::int64_t least, std::int64_t most) {
  return static_cast<Number>(whole(object.at(name), name, least, most));
}

std::string text(const Json& object, const char* name) {
  const auto value = object.at(name).get<std::string>();
  if (value.size() > kNameMax) bad(fmt::format("{} has more than {} characters", name, kNameMax));
  return printable(value);
}

const Json& list(const Json& object, const char* name, std::size_t most) {
  const Json& found = object.at(name);
  if (!found.is_array()) bad(fmt::format("{} is not a list", name));
  if (found.size() > most)
    bad(fmt::format("{} has {} entries, more than {}", name, found.size(), most));
  return found;
}

std::uint64_t read_id(const Json& object) {
  const std::string digits = text(object, "id");
  std::uint64_t id = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  if (code != std::errc() || end != digits.data() + digits.size())
    bad(fmt::format("a communicator's id '{}' is not a hexadecimal number", digits));
  return id;
}

Communicator read_communicator(const Json& json) {
  Communicator one;
  one.id = read_id(json);
  one.ranks = number<std::uint32_t>(json, "ranks", 1, kRanksMax);
  one.rank = number<std::uint32_t>(json, "rank", 0, one.ranks - 1);
  return one;
}

Kind read_kind(const Json& json) {
  return {text(json, "function"), text(json, "type"), text(json, "algorithm"),
          text(json, "protocol"), number<std::uint32_t>(json, "channels", 0, 1024)};
}

BufferSample read_sample(const Json& json) {
  BufferSample sample{text(json, "type"), number<std::uint64_t>(json, "samples", 0, kTimeMax),
                      json.at("ratio").get<double>()};
  if (!(sample.ratio >= 1 && sample.ratio <= 1e4))
    bad(fmt::format("a ratio is {}, not within 1 and 10000", sample.ratio));
  return sample;
}

Record read_record(const Json& row, const Run& run) {
  if (!row.is_array() || row.size() != std::size(kColumns))
    bad(fmt::format("a record is not a list of {} numbers", std::size(kColumns)));
  const auto at = [&](std::size_t column, std::int64_t least, std::int64_t most) {
    return whole(row[column], kColumns[column], least, most);
  };
  const auto last = [](const auto& all) { return static_cast<std::int64_t>(all.size()) - 1; };
  Record record;
  record.communicator = static_cast<std::uint32_t>(at(0, 0, last(run.communicators)));
  record.kind = static_cast<std::uint32_t>(at(1, 0, last(run.kinds)));
  record.sequence = static_cast<std::uint64_t>(at(2, 0, kTimeMax));
  record.bytes = static_cast<std::uint64_t>(at(3, 0, kBytesMax));
  record.enqueued_ns = at(4, -kTimeMax, kTimeMax);
  record.start_ns = at(5, -kTimeMax, kTimeMax);
  record.end_ns = at(6, record.start_ns, kTimeMax);
  record.blocked_ns = at(7, 0, kTimeMax);
  record.overlap_ns = at(8, 0, kTimeMax);
  return record;
}

Run read_object(const Json& json) {
  if (!json.is_object() || json.value("format", "") != kFormat)
    bad(fmt::format("it does not say \"format\": \"{}\"", kFormat));
  if (const auto version = number<int>(json, "version", 1, 1000000); version != kVersion)
    bad(fmt::format("its version is {}; this program reads version {}", version, kVersion));
  const Json& columns = list(json, "columns", 64);
  if (!std::equal(columns.begin(), columns.end(), std::begin(kColumns), std::end(kColumns)))
    bad("its columns are not those of version 1");
  Run run;
  run.rank = number<std::int32_t>(json, "rank", -1, kRanksMax);
  run.ranks = number<std::uint32_t>(json, "ranks", 1, kRanksMax);
  if (run.rank >= static_cast<std::int64_t>(run.ranks))
    bad(fmt::format("rank {} does not exist among {} ranks", run.rank, run.ranks));
  run.host = printable(json.at("host").get<std::string>().substr(0, 256));
  run.pid = number<std::int64_t>(json, "pid", 0, kTimeMax);
  run.collectives = number<std::uint64_t>(json, "collectives", 0, kTimeMax);
  run.starts = text(json, "starts");
  run.buffers = printable(json.at("buffers").get<std::string>().substr(0, 512));
  run.compressed_bytes = number<std::uint64_t>(json, "compressed_bytes", 0, kTimeMax);
  run.compressed_wire_bytes = number<std::uint64_t>(json, "compressed_wire_bytes", 0, kTimeMax);
  for (const Json& one : list(json, "communicators", kListMax))
    run.communicators.push_back(read_communicator(one));
  for (const Json& one : list(json, "kinds", kListMax))
    run.kinds.push_back(read_kind(one));
  for (const Json& one : list(json, "samples", kListMax))
    run.samples.push_back(read_sample(one));
  const Json& rows = list(json, "records", kRecordsMax);
  run.records.reserve(rows.size());
  for (const Json& row : rows)
    run.records.push_back(read_record(row, run));
  return run;
}

Json head_json(const Run& run) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kVersion;
  json["rank"] = run.rank;
  json["ranks"] = run.ranks;
  json["host"] = run.host;
  json["pid"] = run.pid;
  json["collectives"] = run.collectives;
  json["starts"] = run.starts;
  json["buffers"] = run.buffers;
  json["compressed_bytes"] = run.compressed_bytes;
  json["compressed_wire_bytes"] = run.compressed_wire_bytes;
  json["communicators"] = Json::array();
  for (const Communicator& one : run.communicators)
    json["communicators"].push_back(
        {{"id", fmt::format("{:016x}", one.id)}, {"rank", one.rank}, {"ranks", one.ranks}});
  json["kinds"] = Json::array();
  for (const Kind& one : run.kinds)
    json["kinds"].push_back({{"function", one.function},
                             {"type", one.type},
                             {"algorithm", one.algorithm},
                             {"protocol", one.protocol},
                             {"channels", one.channels}});
  json["samples"] = Json::array();
  for (const BufferSample& one : run.samples)
    json["samples"].push_back({{"type", one.type}, {"samples", one.samples}, {"ratio", one.ratio}});
  json["columns"] = kColumns;
  return json;
}

}  // namespace

std::string write_run(const Run& run) {
  std::string out =
      head_json(run).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  out.resize(out.rfind('\n'));  // the closing brace
  out += ",\n \"records\": [";
  const char* separator = "\n";
  for (const Record& r : run.records) {
    fmt::format_to(std::back_inserter(out), "{}[{},{},{},{},{},{},{},{},{}]", separator,
                   r.communicator, r.kind, r.sequence, r.bytes, r.enqueued_ns, r.start_ns, r.end_ns,
                   r.blocked_ns, r.overlap_ns);
    separator = ",\n";
  }
  return out + "]\n}\n";
}

Result<Run> read_run(const std::string& text, const std::string& path) {
  try {
    return read_object(Json::parse(text, limited_depth));
  } catch (const std::exception& error) {  // nlohmann's, and bad()
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("'{}' is not a whole profile of a rank: {}", path, error.what()),
                 "give files that a job wrote by DLCP_PROFILE_FILE"};
  }
}

}  // namespace dlcp::whatif
