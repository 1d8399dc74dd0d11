// Values, the intent file and its key table; error texts are in golden/errors.txt.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catch.h"
#include "switch/cli/sample.h"
#include "switch/intent_text.h"
#include "switch/model/intent_file/intent_keys.h"
#include "switch/model/intent_file/values.h"
#include "switch/model/text/yaml_tree.h"

using namespace dlcp::fabric;
using dlcp::test::leaf_intent;

TEST_CASE("Rates, sizes, times and shares are read only with their units") {
  CHECK(read_rate("400G") == 400'000'000'000u);
  CHECK(read_rate("2.5 Gb/s") == 2'500'000'000u);
  CHECK_FALSE(read_rate("400"));
  CHECK(read_bytes("20.6MB") == 20'600'000u);
  CHECK(read_bytes("16 KiB") == 16'384u);
  CHECK(read_bytes("4200") == 4200u);
  CHECK_FALSE(read_bytes("-1"));
  CHECK_FALSE(read_bytes("1e30GB"));
  CHECK(read_time_ns("12us") == 12'000u);
  CHECK_FALSE(read_time_ns("12"));
  CHECK(read_percent("20%") == 20.0);
  CHECK_FALSE(read_percent("20"));
  CHECK_FALSE(read_percent("101%"));
  CHECK(read_power_of_two("1/4") == -2);
  CHECK(read_power_of_two("8") == 3);
  CHECK_FALSE(read_power_of_two("3"));
  CHECK_FALSE(read_power_of_two("0"));
  CHECK_FALSE(read_number("nan"));
}

TEST_CASE("DSCPs are numbers or the names of their RFCs") {
  CHECK(read_dscp("CS5") == 40);
  CHECK(read_dscp("af21") == 18);
  CHECK(read_dscp("EF") == 46);
  CHECK(read_dscp("63") == 63);
  CHECK_FALSE(read_dscp("64"));
  CHECK_FALSE(read_dscp("AF54"));
  CHECK(read_dscps("24-31")->size() == 8);
  CHECK_FALSE(read_dscps("31-24"));
}

TEST_CASE("Names with ranges, steps and two brackets are expanded") {
  CHECK(*read_names("leaf[1-3]") == std::vector<std::string>{"leaf1", "leaf2", "leaf3"});
  CHECK(*read_names("Ethernet[0-8:4]") ==
        std::vector<std::string>{"Ethernet0", "Ethernet4", "Ethernet8"});
  CHECK(*read_names("leaf[08-10]") == std::vector<std::string>{"leaf08", "leaf09", "leaf10"});
  CHECK(read_names("Ethernet[1-2]/[1-4]")->size() == 8);
  CHECK(read_names("Ethernet[1-2]/[1-4]")->back() == "Ethernet2/4");
  CHECK_FALSE(read_names("swp[4-1]"));
  CHECK_FALSE(read_names("swp[1-4:0]"));
  CHECK_FALSE(read_names("swp[1-4"));
  CHECK_FALSE(read_names("a b"));
  CHECK_FALSE(read_names(""));
  CHECK_FALSE(read_names("x[0-9999][0-9999]"));
}

TEST_CASE("The sample is an intent without problems") {
  const auto intent = dlcp::test::read(std::string(cli::sample_intent()));
  for (const Problem& problem : intent.problems)
    UNSCOPED_INFO(to_text(problem));
  REQUIRE(intent.value);
  CHECK(intent.problems.empty());
  CHECK(intent.value->switches.size() == 6);
  for (const SwitchIntent& device : intent.value->switches)
    CHECK(plan_switch(*intent.value, device).value.has_value());
}

TEST_CASE("Switches of one range share the declared site") {
  auto text = leaf_intent();
  text.replace(text.find("leaf1"), 5, "leaf[1-9]");
  const auto intent = dlcp::test::read(text);
  REQUIRE(intent.value);
  REQUIRE(intent.value->switches.size() == 9);
  CHECK(intent.value->switches[0].site == intent.value->switches[8].site);
  CHECK(intent.value->switches[8].name == "leaf9");
}

TEST_CASE("The map comes from the import, minimum shares and permissions from the declaration") {
  int imports = 0;
  const Sources sources{
      [](const std::string& file) {
        Checked<std::string> text;
        text.value = file;
        return text;
      },
      [&imports](const std::string& os, const std::string& file, const std::string& text) {
        ++imports;
        CHECK(os == "sonic");
        CHECK(file == text);
        Checked<SiteConfig> site;
        site.value.emplace();
        site.value->dscp_to_class.fill(std::uint8_t{1});
        site.value->dscp_to_class[3] = 3;
        return site;
      }};
  auto text = leaf_intent("sonic", "tomahawk4", "202311", "    running_config: common.json\n");
  text.replace(text.find("leaf1"), 5, "leaf[1-3]");
  const auto map = text.find("  dscp_map");
  text.erase(map, text.find('\n', map) + 1 - map);
  text.replace(text.find("weight: 40"), 10, "min_share: 30%");
  const auto intent = read_intent("x.yaml", text, sources);
  for (const Problem& problem : intent.problems)
    UNSCOPED_INFO(to_text(problem));
  REQUIRE(intent.value);
  const SiteConfig& site = *intent.value->switches[0].site;
  CHECK(imports == 1);
  CHECK(site.imported);
  CHECK(site.default_class == 1);
  CHECK(site.queues[3].min_share == 30.0);
  CHECK((site.pfc_priorities & 1U << 3) != 0);
}

TEST_CASE(
    "An import with a map that is out of range, or that contradicts a declaration, is an error") {
  struct Row {
    std::uint8_t traffic_class;  // of every DSCP in the import
    const char* map;             // declared
    const char* error;
  };
  for (const Row& row : {Row{255, "1: 1", "class that is out of range"},
                         Row{0, nullptr, "contradicts the declared dscp_map"}}) {
    const Sources sources{[](const std::string&) {
                            Checked<std::string> text;
                            text.value = "";
                            return text;
                          },
                          [&](const std::string&, const std::string&, const std::string&) {
                            Checked<SiteConfig> site;
                            site.value.emplace();
                            site.value->dscp_to_class.fill(row.traffic_class);
                            if (row.traffic_class == 255)
                              site.value->class_to_queue.fill(std::uint8_t{9});
                            return site;
                          }};
    const std::string imported = "    running_config: c.json\n";
    const auto text = row.map != nullptr
                          ? leaf_intent("sonic", "tomahawk4", "202311", imported, row.map)
                          : leaf_intent("sonic", "tomahawk4", "202311", imported);
    const auto intent = read_intent("x.yaml", text, sources);
    REQUIRE_FALSE(intent.value);
    CHECK_THAT(to_text(intent.problems.front()), Contains(row.error));
  }
}

namespace {

using Json = nlohmann::json;

// Follows "$ref": "#/$defs/name".
const Json& resolved(const Json& root, const Json& schema) {
  if (!schema.contains("$ref")) return schema;
  return root.at("$defs").at(schema.at("$ref").get<std::string>().substr(8));
}

// Keys and required keys of a section of the key table, in the schema.
void compare_section(const Json& schema, const std::string& section) {
  INFO("section '" << section << "'");
  std::set<std::string> known, required;
  for (const KeyRow& row : intent_keys()) {
    if (row.section != section) continue;
    known.insert(std::string(row.key));
    if (row.required) required.insert(std::string(row.key));
    const auto described =
        schema.at("properties").at(std::string(row.key)).value("description", "");
    CHECK(described.rfind(row.meaning.empty() ? row.type : row.meaning, 0) == 0);
  }
  std::set<std::string> properties, demanded;
  for (const auto& [key, value] : schema.at("properties").items())
    properties.insert(key);
  if (schema.contains("required"))
    for (const auto& key : schema.at("required"))
      demanded.insert(key.get<std::string>());
  CHECK(properties == known);
  CHECK(demanded == required);
  CHECK(schema.at("additionalProperties") == false);
}

// A small validator for the parts of JSON Schema that the shipped schema uses.
void validate(const Json& root, const Json& raw, const YamlNode& node, const std::string& where) {
  INFO(where);
  const Json& schema = resolved(root, raw);
  if (schema.contains("oneOf")) {
    for (const Json& option : schema.at("oneOf")) {
      const std::string type = resolved(root, option).value("type", "string");
      if ((type == "array") == (node.kind == YamlNode::Kind::kList))
        return validate(root, option, node, where);
    }
  }
  if (node.kind == YamlNode::Kind::kMap) {
    REQUIRE(schema.value("type", "") == "object");
    for (const YamlEntry& entry : node.entries) {
      if (schema.contains("properties") && schema.at("properties").contains(entry.key)) {
        validate(root, schema.at("properties").at(entry.key), entry.value, where + '.' + entry.key);
      } else {
        INFO(entry.key);
        REQUIRE(schema.at("additionalProperties") != false);
      }
    }
    for (const auto& key : schema.value("required", Json::array()))
      REQUIRE(node.find(key.get<std::string>()) != nullptr);
  } else if (node.kind == YamlNode::Kind::kList) {
    REQUIRE(schema.value("type", "") == "array");
    for (const YamlNode& item : node.items)
      validate(root, schema.at("items"), item, where + "[]");
  } else if (schema.contains("enum")) {
    const Json& words = schema.at("enum");
    CHECK(std::find(words.begin(), words.end(), Json(node.text)) != words.end());
  }
}

Json load_schema() {
  std::ifstream stream(DLCP_SWITCH_SCHEMA);
  return Json::parse(stream);
}

}  // namespace

TEST_CASE("The schema knows exactly the keys that the reader knows") {
  const Json schema = load_schema();
  const Json& defs = schema.at("$defs");
  compare_section(schema, "");
  for (const auto& [section, definition] : std::vector<std::pair<std::string, std::string>>{
           {"fabric", "fabric"},
           {"dlcp", "dlcp"},
           {"dlcp.shares", "shares"},
           {"dlcp.queues", "queues"},
           {"dlcp.level_shares", "levelShares"},
           {"dlcp.level_shares.bulk", "bulkShares"},
           {"dlcp.level_shares.urgent", "urgentShares"},
           {"site", "site"},
           {"site.queues[]", "siteQueue"},
           {"switches[]", "switch"},
           {"tenants[]", "tenant"},
           {"switches[].buffer", "buffer"},
           {"switches[].trimming", "trimming"},
           {"switches[].pfc_watchdog", "pfcWatchdog"},
           {"switches[].ports[]", "portGroup"}})
    compare_section(defs.at(definition), section);
  std::set<std::string_view> sections;
  for (const KeyRow& row : intent_keys())
    sections.insert(row.section);
  CHECK(sections.size() == 16);
}

TEST_CASE("The sample validates against the schema") {
  const Json schema = load_schema();
  const auto tree = parse_yaml("sample", std::string(cli::sample_intent()));
  REQUIRE(tree.value);
  validate(schema, schema, *tree.value, "sample");
}

TEST_CASE("Aliases and merge keys are replaced by the nodes that they name") {
  const auto read = parse_yaml("file",
                               "a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\n"
                               "d: {<<: [*a, {z: 4}]}\ne: &e 5\nf: [*e]\n");
  REQUIRE(read.value);
  const YamlNode& root = *read.value;
  CHECK(root.find("b")->find("y")->text == "2");
  CHECK(root.find("c")->find("x")->text == "1");
  CHECK(root.find("c")->find("y")->text == "3");
  CHECK(root.find("c")->entries.size() == 2);
  CHECK(root.find("d")->find("z")->text == "4");
  CHECK(root.find("f")->items[0].text == "5");
  CHECK(root.find("b")->find("x")->line == 1);  // the line of the anchor
  CHECK_THAT(parse_yaml("file", "a: &a [*a]\n").problems.at(0).what, Contains("contains it"));
}
