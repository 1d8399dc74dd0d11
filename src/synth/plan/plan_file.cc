#include "synth/plan/plan_file.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synth/topology.h"
#include "util/text/json_depth.h"

namespace dlcp::synth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<Family, const char*> kFamilies[] = {
    {Family::kExchange, "exchange"}, {Family::kDoubling, "doubling"},
    {Family::kBruck, "bruck"},       {Family::kPat, "pat"},
    {Family::kTrees, "trees"},       {Family::kExplicit, "explicit"}};
constexpr std::size_t kTextMax = std::size_t{256} << 20;

Json trees_json(const std::vector<Tree>& trees) {
  Json all = Json::array();
  for (const Tree& tree : trees)
    all.push_back(Json::array({tree.units, tree.release, tree.parent}));
  return all;
}

Json schedule_json(const Schedule& schedule) {
  Json chunks = Json::array(), messages = Json::array();
  for (const Chunk& c : schedule.chunks)
    chunks.push_back(Json::array({c.begin, c.units, c.source, c.target}));
  for (const Message& m : schedule.messages) {
    Json ranges = Json::array();
    for (const Range& range : schedule.ranges(m))
      ranges.push_back(Json::array({range.first, range.count}));
    messages.push_back(Json::array({m.step, m.from, m.to, m.reduce ? 1 : 0, ranges}));
  }
  Json json;
  json["units"] = schedule.units;
  json["chunks"] = std::move(chunks);
  json["messages"] = std::move(messages);
  return json;
}

// The parts that must be equal on all ranks.
Json recipe_json(const Recipe& recipe) {
  Json json;
  for (const auto& [family, name] : kFamilies)
    if (family == recipe.family) json["algorithm"] = name;
  json["slices"] = recipe.slices;
  if (!recipe.order.empty()) json["order"] = recipe.order;
  if (!recipe.levels.empty()) {
    json["levels"] = Json::array();
    for (const Level& level : recipe.levels)
      json["levels"].push_back(Json::array({level.radix, level.ring ? "ring" : "direct"}));
  }
  if (!recipe.trees.empty()) json["trees"] = trees_json(recipe.trees);
  if (!recipe.reducing.empty()) json["reducing"] = trees_json(recipe.reducing);
  if (recipe.family == Family::kExplicit) json["schedule"] = schedule_json(recipe.schedule);
  return json;
}

Json up_to_json(const Bracket& bracket) {
  return bracket.up_to > 0 ? Json(bracket.up_to) : Json();
}

// Throws std::invalid_argument for values that no plan has, next to nlohmann's own exceptions.
[[noreturn]] void bad(const std::string& what) {
  throw std::invalid_argument(what);
}

int whole(const Json& json, int least, int most) {
  if (!json.is_number_integer()) bad(fmt::format("{} is not a whole number", json.dump()));
  const auto value = json.get<std::int64_t>();
  if (value < least || value > most)
    bad(fmt::format("{} is not between {} and {}", value, least, most));
  return static_cast<int>(value);
}

constexpr int kMost = 1 << 30;

std::vector<int> wholes(const Json& json, int least, int most) {
  if (!json.is_array()) bad("a list of numbers is expected");
  std::vector<int> values;
  for (const Json& one : json)
    values.push_back(whole(one, least, most));
  return values;
}

const Json& row(const Json& json, std::size_t size) {
  if (!json.is_array() || json.size() != size)
    bad(fmt::format("a list of {} numbers is expected", size));
  return json;
}

std::vector<Tree> read_trees(const Json& json) {
  std::vector<Tree> trees;
  for (const Json& one : json)
    trees.push_back({whole(row(one, 3)[0], 1, kMost), whole(one[1], 0, kMost),
                     wholes(one[2], -1, Topology::kRanksMax)});
  return trees;
}

Schedule read_schedule(const Json& json) {
  Schedule schedule;
  schedule.units = whole(json.at("units"), 1, kMost);
  for (const Json& one : json.at("chunks")) {
    const auto numbers = wholes(row(one, 4), -1, kMost);
    schedule.chunks.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
  }
  std::vector<Range> ranges;
  for (const Json& one : json.at("messages")) {
    row(one, 5);
    ranges.clear();
    for (const Json& range : one[4])
      ranges.push_back({whole(row(range, 2)[0], 0, kMost), whole(range[1], 1, kMost)});
    schedule.add(whole(one[0], 0, kMost), whole(one[1], 0, kMost), whole(one[2], 0, kMost),
                 whole(one[3], 0, 1) == 1, ranges);
  }
  return schedule;
}

Bracket read_bracket(const Json& json) {
  Bracket bracket;
  Recipe& recipe = bracket.recipe;
  bool known = false;
  const auto algorithm = json.at("algorithm").get<std::string>();
  for (const auto& [family, name] : kFamilies) {
    if (algorithm != name) continue;
    recipe.family = family;
    known = true;
  }
  if (!known) bad(fmt::format("unknown algorithm '{}'", algorithm));
  recipe.name = json.value("name", algorithm);
  recipe.slices = whole(json.at("slices"), 1, 4096);
  if (json.contains("order")) recipe.order = wholes(json["order"], 0, Topology::kRanksMax);
  if (json.contains("levels")) {
    for (const Json& level : json["levels"])
      recipe.levels.push_back(
          {whole(row(level, 2)[0], 1, Topology::kRanksMax), level[1].get<std::string>() == "ring"});
  }
  if (json.contains("trees")) recipe.trees = read_trees(json["trees"]);
  if (json.contains("reducing")) recipe.reducing = read_trees(json["reducing"]);
  if (recipe.family == Family::kExplicit) recipe.schedule = read_schedule(json.at("schedule"));
  if (!json.at("up_to").is_null()) bracket.up_to = json["up_to"].get<double>();
  if (!(bracket.up_to >= 0)) bad("up_to is negative");
  if (json.contains("predicted")) {
    bracket.at = json["predicted"].at("bytes").get<double>();
    bracket.seconds = json["predicted"].at("seconds").get<double>();
  }
  return bracket;
}

Plan read_json(const Json& json) {
  Plan plan;
  const auto collective = collective_of(json.at("collective").get<std::string>());
  if (!collective) bad(fmt::format("unknown collective {}", json["collective"].dump()));
  plan.collective = *collective;
  plan.ranks = whole(json.at("ranks"), 1, Topology::kRanksMax);
  plan.topology = json.value("topology", "");
  if (json.contains("rank_names"))
    plan.rank_names = json["rank_names"].get<std::vector<std::string>>();
  if (json.contains("bound_bytes_per_second") && json["bound_bytes_per_second"].is_number())
    plan.bound_rate = json["bound_bytes_per_second"].get<double>();
  for (const Json& bracket : json.at("brackets"))
    plan.brackets.push_back(read_bracket(bracket));
  if (plan.brackets.empty()) bad("it has no brackets");
  for (std::size_t i = 0; i < plan.brackets.size(); i++) {
    const bool last = i + 1 == plan.brackets.size();
    if (last != (plan.brackets[i].up_to == 0))
      bad("up_to must be null in the last bracket, and only there");
    if (!last && i > 0 && plan.brackets[i].up_to <= plan.brackets[i - 1].up_to)
      bad("the brackets are not in ascending order");
  }
  return plan;
}

}  // namespace

std::string hash_of(const Plan& plan) {
  Json json;
  json["collective"] = name_of(plan.collective);
  json["ranks"] = plan.ranks;
  for (const Bracket& bracket : plan.brackets)
    json["brackets"].push_back(Json::array({up_to_json(bracket), recipe_json(bracket.recipe)}));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : json.dump())
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

std::string write_plan(const Plan& plan) {
  Json json;
  json["version"] = Plan::kVersion;
  json["hash"] = hash_of(plan);
  json["topology"] = plan.topology;
  json["collective"] = name_of(plan.collective);
  json["ranks"] = plan.ranks;
  json["rank_names"] = plan.rank_names;
  json["bound_bytes_per_second"] = plan.bound_rate > 0 ? Json(plan.bound_rate) : Json();
  json["brackets"] = Json::array();
  for (const Bracket& bracket : plan.brackets) {
    Json one;
    one["up_to"] = up_to_json(bracket);
    one["name"] = bracket.recipe.name;
    one["predicted"] = {{"bytes", bracket.at}, {"seconds", bracket.seconds}};
    one.update(recipe_json(bracket.recipe));
    json["brackets"].push_back(std::move(one));
  }
  return json.dump() + "\n";
}

Result<Plan> read_plan(const std::string& text, const std::string& source) {
  const auto failed = [&](const std::string& what) {
    return Error{ErrorCode::kInvalidUsage, fmt::format("{}: {}", source, what),
                 "create it again with dlcp synth -o"};
  };
  if (text.size() > kTextMax) return failed("the file is too long for a plan");
  try {
    const Json json = Json::parse(text, limited_depth);
    if (!json.is_object() || !json.contains("brackets")) return failed("the file is not a plan");
    const int version = whole(json.at("version"), 0, kMost);
    if (version != Plan::kVersion)
      return failed(fmt::format("the plan has version {}, but this program reads version {}",
                                version, Plan::kVersion));
    Plan plan = read_json(json);
    const auto written = json.at("hash").get<std::string>();
    if (const auto hash = hash_of(plan); written != hash)
      return failed(fmt::format(
          "the file was changed: it names hash {}, but its contents have hash {}", written, hash));
    return plan;
  } catch (const nlohmann::json::exception& e) {
    return failed(e.what());
  } catch (const std::invalid_argument& e) {
    return failed(e.what());
  }
}

}  // namespace dlcp::synth
