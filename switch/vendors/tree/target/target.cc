// Reads switch/targets/*.json. The files are compiled in, so an error in one is an error of the
// build: tests load all of them.
#include "switch/vendors/tree/target/target.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "switch/targets/target_files.h"
#include "switch/vendors/text/numbers.h"
#include "switch/vendors/tree/target/limits.h"

namespace dlcp::fabric::tree {
namespace {

using Json = nlohmann::json;

std::vector<std::string> words(const Json& data, const char* key) {
  return data.value(key, std::vector<std::string>{});
}

std::vector<Pattern> patterns(const Json& data, const char* key) {
  std::vector<Pattern> list;
  for (const auto& text : words(data, key))
    list.emplace_back(text);
  return list;
}

Reader reader_of(const Json& data) {
  Reader reader;
  const auto syntax = data.at("syntax").get<std::string>();
  reader.syntax = syntax == "blocks"       ? Syntax::kBlocks
                  : syntax == "flat"       ? Syntax::kFlat
                  : syntax == "operations" ? Syntax::kOperations
                                           : Syntax::kJson;
  reader.ranged = words(data, "ranged");
  reader.prefix = data.value("prefix", "");
  reader.roots = words(data, "roots");
  reader.json.keys = data.value("keys", std::map<std::string, std::string>{});
  reader.json.modules = data.value("modules", std::map<std::string, std::string>{});
  reader.json.leaf_lists = words(data, "leaf_lists");
  reader.json.numbers = words(data, "numbers");
  reader.json.booleans = words(data, "booleans");
  for (const auto& row : data.value("lists", Json::array()))
    reader.lists.push_back(
        {row.at(0).get<std::string>(), row.at(1).get<std::string>(), row.at(2).get<int>()});
  reader.kept_comment = data.value("kept_comment", "");
  reader.ends_with = data.value("ends_with", "");
  reader.names_itself = data.value("names_itself", "");
  return reader;
}

// Templates are lines without the prefix that lines of a configuration have.
Reader template_reader_of(const Reader& running) {
  Reader reader;
  reader.syntax = running.syntax == Syntax::kBlocks ? Syntax::kBlocks : Syntax::kFlat;
  reader.roots = {""};
  reader.lists = running.lists;
  reader.kept_comment = running.kept_comment;
  return reader;
}

// One number for all, "precedence" (DSCP / 8), or a list of 64 numbers.
std::array<int, kDscpCount> classes_of(const Json& data) {
  std::array<int, kDscpCount> classes{};
  for (std::size_t dscp = 0; dscp < kDscpCount; ++dscp) {
    if (data.is_number()) classes[dscp] = data.get<int>();
    if (data.is_string()) classes[dscp] = static_cast<int>(dscp / 8);
    if (data.is_array()) classes[dscp] = data.at(dscp).get<int>();
  }
  return classes;
}

ObjectKind object_of(const Json& row) {
  ObjectKind kind{row.at("name").get<std::string>(),
                  Pattern(row.at("root").get<std::string>()),
                  patterns(row, "bindings"),
                  patterns(row, "shared"),
                  patterns(row, "left_out"),
                  patterns(row, "renames"),
                  row.value("tag", ""),
                  row.value("ours_first", false),
                  row.value("required", true),
                  row.value("classifies", row.at("name") == "classifier"),
                  {},
                  {},
                  row.value("title", row.at("name").get<std::string>()),
                  row.value("usual", ""),
                  {},
                  row.value("idle_left_out", false),
                  row.value("idle_note", ""),
                  row.value("copied", true)};
  add_refusals(kind.refused, row, "refused");
  for (const auto& one : row.value("implied", Json::array()))
    kind.implied.push_back({one.at("text").get<std::string>(), one.value("usual_alone", false),
                            one.value("unless", "")});
  for (const auto& one : row.value("requires", Json::array()))
    kind.requirements.push_back({patterns(one, "patterns"), one.at("text").get<std::string>(),
                                 one.at("why").get<std::string>(),
                                 one.at("hint").get<std::string>(),
                                 one.at("note").get<std::string>()});
  return kind;
}

Change change_of(const std::string& name) {
  if (name == "lines") return Change::kLines;
  if (name == "overwrite") return Change::kOverwrite;
  return name == "overwrite line" ? Change::kOverwriteLine : Change::kReplace;
}

// A pattern, or an object of a pattern and the way in which its rows change.
std::vector<Scope> scopes_of(const Json& config) {
  const auto usual = config.value("change", "replace");
  std::vector<Scope> list;
  for (const auto& row : config.at("scopes")) {
    if (row.is_string())
      list.push_back({Pattern(row.get<std::string>()), change_of(usual), false, ""});
    else
      list.push_back({Pattern(row.at("scope").get<std::string>()),
                      change_of(row.value("change", usual)), row.value("hitless", false),
                      row.value("reloads_before", "")});
  }
  return list;
}

std::map<std::string, Word> words_in(const Json& config) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  std::map<std::string, Word> list;
  const Json data = config.value("words", Json::object());
  for (const auto& [name, row] : data.items()) {
    Word& word = list[name];
    for (const auto& [pattern, value] : row.value("seen", Pairs{}))
      word.seen.emplace_back(Pattern(pattern), value);
    word.asics = row.value("asics", Pairs{});
    word.releases = row.value("releases", Pairs{});
    word.otherwise = row.at("otherwise").get<std::string>();
  }
  return list;
}

std::vector<Note> notes_of(const Json& config) {
  std::vector<Note> list;
  for (const auto& row : config.value("notes", Json::array())) {
    if (row.is_string())
      list.push_back({row.get<std::string>(), "", "", true, std::nullopt});
    else
      list.push_back({row.at("text").get<std::string>(), row.value("if", ""),
                      row.value("unless", ""), row.value("warns", true), std::nullopt});
    if (row.is_object() && row.contains("on_remarked"))
      list.back().on_remarked = Pattern(row.at("on_remarked").get<std::string>());
  }
  return list;
}

void read_meaning(Target& target, const Json& config) {
  for (const auto& [name, list] : config.at("facts").items())
    for (const auto& text : list)
      target.facts[name].emplace_back(text.get<std::string>());
  add_refusals(target.refusals, config, "refuse");
  add_refusals(target.refusals, config, "warn", true);
  add_refusals(target.port_refusals, config, "refuse_on_ports");
  target.unbound = classes_of(config.at("unbound"));
  target.unlisted = classes_of(config.at("unlisted"));
  target.class_names = config.value("class_names", std::map<std::string, int>{});
  target.queue_names = config.value("queue_names", std::map<std::string, int>{});
  target.ports_are_listed = config.value("ports_are_listed", false);
  target.ports_begin = config.value("ports_begin", "");
  target.lag_prefix = config.value("lag_prefix", "");
  target.name_speeds = config.value("name_speeds", std::map<std::string, std::string>{});
  target.doubtful_classes = config.value("doubtful_classes", std::vector<int>{});
  target.usual_rewriting = config.value("usual_rewriting", std::vector<int>{});
  target.depths_are_percent = config.value("depths_are_percent", false);
  target.lossy_pool = config.value("lossy_pool", "");
  target.round_robin_binds_below = config.value("round_robin_binds_below", false);
  target.strict_is_highest = config.value("strict_is_highest", target.round_robin_binds_below);
  target.words = words_in(config);
  target.configured_is_used = config.value("configured_is_used", true);
  target.dscp_trusts = words(config, "dscp_trusts");
  target.tag_trusts = words(config, "tag_trusts");
  target.usual_rewriter = config.value("usual_rewriter", "");
  target.short_names = config.value("short_names", false);
  for (const auto& row : config.at("objects"))
    target.objects.push_back(object_of(row));
  target.refers = references_of(config);
}

void read_limits(Target& target, const Json& config) {
  target.ranges = ranges_of(config);
  target.ranges_are_all = config.value("ranges_are_all", false);
  for (const auto& row : config.value("sums", Json::array()))
    target.sums.push_back({Pattern(row.at(0).get<std::string>()), row.at(1).get<std::uint64_t>(),
                           row.at(2).get<std::string>(), row.at(3).get<std::string>()});
}

// Files that a target has in addition to the common ones.
void read_files(Target& target, const Json& config) {
  target.scripts = config.value("scripts", "");
  target.leaf_rows = config.value("leaf_rows", false);
  const Json apart = config.value("by_hand", Json::object());
  target.by_hand = {apart.value("file", ""), apart.value("set", ""), apart.value("unset", ""),
                    apart.value("head", "")};
}

Target target_of(const TargetFile& file, const Json& data) {
  Target target;
  const Json& config = data.at("configuration");
  target.lossless_classes =
      data.at("capabilities").at(0).value("lossless_queues", target.lossless_classes);
  target.os = data.at("os").get<std::string>();
  target.title = data.at("title").get<std::string>();
  target.suffix = config.at("suffix").get<std::string>();
  target.comment = config.value("comment", "! ");
  target.unverified_hint = config.value("unverified_hint", "");
  target.indent = config.value("indent", std::size_t{2});
  target.separator = config.value("separator", "");
  target.reader = reader_of(config);
  target.template_reader = template_reader_of(target.reader);
  read_meaning(target, config);
  target.scopes = scopes_of(config);
  read_limits(target, config);
  read_files(target, config);
  target.no = config.value("no", "no ");
  target.templates = Sections(file.text);
  target.session = config.value("session", std::map<std::string, std::string>{});
  target.shows = shows_of(config);
  target.notes = notes_of(config);
  target.declared_note =
      config.value("declared_note",
                   "the site is declared, not imported: apply.sh refuses if ports have classifiers "
                   "or schedulers already. To merge with them, import the running configuration");
  target.export_command = config.value("export_command", "");
  target.checked_by = config.value("checked_by", "");
  return target;
}

// The order of these lists determines the meaning of a statement that matches several patterns.
void read_meanings(Target& target) {
  const auto add = [&target](Meaning meaning) {
    target.meaning_index.add(*meaning.pattern, target.meanings.size());
    target.meanings.push_back(meaning);
  };
  for (const auto& [name, list] : target.facts)
    for (const Pattern& pattern : list)
      add({Meaning::Kind::kFact, &pattern, &name});
  for (const ObjectKind& kind : target.objects)
    for (const Pattern& pattern : kind.bindings)
      if (kind.copied) add({Meaning::Kind::kBinding, &pattern, &kind.name});
  for (const ObjectKind& kind : target.objects)
    for (const Pattern& pattern : kind.shared)
      add({Meaning::Kind::kShared, &pattern, &kind.name});
  for (const auto& [name, word] : target.words)
    for (const auto& [pattern, value] : word.seen)
      add({Meaning::Kind::kWord, &pattern, &name, &value});
}

template <class Rows>
void index_rows(const Rows& rows, PatternIndex& index) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    index.add(rows[i].pattern, i);
}

std::vector<Target> read_targets() {
  std::vector<Target> list;
  for (const TargetFile& file : target_files()) {
    const auto data = Json::parse(file.data);
    if (data.contains("configuration")) list.push_back(target_of(file, data));
  }
  for (Target& target : list) {  // their addresses no longer change
    read_meanings(target);
    index_rows(target.refusals, target.refusal_index);
    index_rows(target.port_refusals, target.port_refusal_index);
    index_rows(target.scopes, target.scope_index);
  }
  return list;
}

constexpr std::string_view kPrefix = "DLCP";
constexpr std::string_view kNone = "none";

}  // namespace

bool is_own(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const auto dash = name.find_first_not_of("r0123456789", kPrefix.size());
  return dash != std::string_view::npos && name[dash] == '-';
}

std::string site_name(const Target& target, std::string_view name) {
  if (!is_own(name)) return std::string(name);
  const auto first = name.find('-');
  if (target.short_names) return std::string(name.substr(first + 1));
  const auto dash = name.find('-', first + 1);
  const auto base = dash == std::string_view::npos ? std::string_view() : name.substr(dash + 1);
  return base == kNone ? "" : std::string(base);
}

std::optional<int> dscp_of(std::string_view name) {
  constexpr std::pair<std::string_view, int> kNames[] = {
      {"be", 0},  {"default", 0},      {"le", 1},   {"va", 44},
      {"ef", 46}, {"voice-admit", 44}, {"nc1", 48}, {"nc2", 56}};
  std::string word(name);
  std::transform(word.begin(), word.end(), word.begin(), [](char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  for (const auto& [known, value] : kNames)
    if (word == known) return value;
  const bool bits = word.size() == 6 && word.find_first_not_of("01") == std::string::npos;
  if (bits) {
    int value = 0;
    for (const char c : word)
      value = value * 2 + (c - '0');
    return value;
  }
  const auto digit = [&word](std::size_t at) { return word[at] - '0'; };
  if (word.size() == 3 && word.starts_with("cs") && digit(2) >= 0 && digit(2) <= 7)
    return 8 * digit(2);
  if (word.size() == 4 && word.starts_with("af") && digit(2) >= 1 && digit(2) <= 4 &&
      digit(3) >= 1 && digit(3) <= 3)
    return 8 * digit(2) + 2 * digit(3);
  const auto number = number_of(word);
  return number && *number < kDscpCount ? number : std::nullopt;
}

std::size_t rank_of(const Target& target, std::string_view statement, std::size_t& taken) {
  std::size_t rank = 0;  // there are few
  while (rank < target.scopes.size() && !target.scopes[rank].pattern.covers(statement, taken))
    ++rank;
  return rank;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = read_targets();
  return kTargets;
}

}  // namespace dlcp::fabric::tree
