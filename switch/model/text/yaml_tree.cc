#include "switch/model/text/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace dlcp::fabric {
namespace {

constexpr std::size_t kDepthMax = 24;               // an intent file nests six deep
constexpr std::size_t kExpandedNodesMax = 100'000;  // created by aliases in one file

int line_of(const YAML::Mark& mark) {
  return mark.line + 1;
}

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what) {
  throw YAML::ParserException(mark, what);  // caught in parse_yaml, with the library's own
}

struct Extent {
  std::size_t nodes = 0, depth = 0;
};

Extent extent_of(const YamlNode& node) {
  Extent extent;
  const auto add = [&extent](const YamlNode& below) {
    const Extent one = extent_of(below);
    extent.nodes += one.nodes;
    extent.depth = std::max(extent.depth, one.depth);
  };
  for (const YamlNode& item : node.items)
    add(item);
  for (const YamlEntry& entry : node.entries)
    add(entry.value);
  return {extent.nodes + 1, extent.depth + 1};
}

// Adds the entries of the merge key "<<" that the map itself does not have.
void merge(YamlNode& map) {
  constexpr std::string_view kMerge = "<<";
  const auto at = std::find_if(map.entries.begin(), map.entries.end(),
                               [&](const YamlEntry& entry) { return entry.key == kMerge; });
  if (at == map.entries.end()) return;
  const YamlNode from = std::move(at->value);
  map.entries.erase(at);
  const auto take = [&map](const YamlNode& other) {
    for (const YamlEntry& entry : other.entries)
      if (map.find(entry.key) == nullptr) map.entries.push_back(entry);
  };
  take(from);
  for (const YamlNode& item : from.items)
    take(item);
}

// Builds the tree from the library's events. `open_` holds the lists and maps being filled.
class TreeBuilder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (done_) refuse(mark, "a second document begins here");
  }
  void OnDocumentEnd() override { done_ = true; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    YamlNode node;
    node.line = line_of(mark);
    if (awaits_key()) refuse(mark, "a key is missing");
    place(std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias refers to a node that contains it");
    if (awaits_key()) refuse(mark, "keys must be scalars");
    const Extent extent = extent_of(found->second);
    expanded_ += extent.nodes;
    if (expanded_ > kExpandedNodesMax)
      refuse(mark, "aliases expand to too many nodes; write the contents out");
    if (open_.size() + extent.depth > kDepthMax) refuse(mark, "nested too deeply");
    place(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (awaits_key()) {
      keep_key(mark, value);
      return;
    }
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.line = line_of(mark);
    node.text = value;
    node.quoted = tag == "!";
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    place(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(mark, YamlNode::Kind::kList, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(mark, YamlNode::Kind::kMap, anchor);
  }
  void OnMapEnd() override { end(); }

  YamlNode& root() { return root_; }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  // maps: the value of entries.back() is expected next
  };

  bool awaits_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap &&
           !open_.back().has_key;
  }
  void keep_key(const YAML::Mark& mark, const std::string& key) {
    auto& entries = open_.back().node.entries;
    const auto twin = std::find_if(entries.begin(), entries.end(),
                                   [&key](const YamlEntry& entry) { return entry.key == key; });
    if (twin != entries.end())
      refuse(mark, "key '" + key + "' occurs twice; first on line " + std::to_string(twin->line));
    entries.push_back({key, line_of(mark), {}});
    open_.back().has_key = true;
  }
  void begin(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (awaits_key()) refuse(mark, "keys must be scalars");
    if (open_.size() >= kDepthMax) refuse(mark, "nested too deeply");
    Open open;
    open.node.kind = kind;
    open.node.line = line_of(mark);
    open.anchor = anchor;
    open_.push_back(std::move(open));
  }
  void end() {
    YamlNode node = std::move(open_.back().node);
    const YAML::anchor_t anchor = open_.back().anchor;
    open_.pop_back();
    merge(node);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    place(std::move(node));
  }
  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.kind == YamlNode::Kind::kList) {
      open_.back().node.items.push_back(std::move(node));
    } else {
      open_.back().node.entries.back().value = std::move(node);
      open_.back().has_key = false;
    }
  }

  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t expanded_ = 0;  // nodes created by aliases
  bool done_ = false;
};

Problem not_yaml(const std::string& file, int line, std::string what) {
  Problem problem;
  problem.file = file;
  problem.line = line;
  problem.what = std::move(what);
  return problem;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [key](const YamlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

Checked<YamlNode> parse_yaml(const std::string& file, const std::string& text) {
  TreeBuilder builder;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    return Checked<YamlNode>::failed(not_yaml(file, line_of(e.mark), "not YAML: " + e.msg));
  } catch (const std::exception& e) {
    return Checked<YamlNode>::failed(not_yaml(file, 0, std::string("not YAML: ") + e.what()));
  }
  Checked<YamlNode> result;
  result.value = std::move(builder.root());
  return result;
}

}  // namespace dlcp::fabric
