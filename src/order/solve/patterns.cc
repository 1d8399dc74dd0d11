#include "order/solve/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text/quantity.h"

namespace dlcp::order {
namespace {

constexpr double kVectorGb = 8;  // 10^9 bytes
constexpr std::size_t kAxesMax = 6;
constexpr double kLightWeight = 0.1;

double ring_share(int nodes) {
  return 2.0 * (nodes - 1) / nodes;
}

// Both directions of an edge carry half of the vector: sums upwards, results downwards.
void add_edge(std::vector<Message>& round, int a, int b) {
  round.push_back({a, b, kVectorGb / 2});
  round.push_back({b, a, kVectorGb / 2});
}

Error bad(const std::string& what, const std::string& hint) {
  return {ErrorCode::kInvalidUsage, "--mesh: " + what, hint};
}

Result<MeshAxis> parse_axis(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const std::size_t colon = std::min(entry.find(':'), entry.size());
  MeshAxis axis;
  axis.name = entry.substr(0, equals);
  if (equals == std::string_view::npos || equals == 0 || colon < equals)
    return bad(fmt::format("'{}' is not an axis", entry.substr(0, 40)), "write pp=4,dp=16");
  const auto size = parse_count(entry.substr(equals + 1, colon - equals - 1));
  if (!size || *size < 1 || *size > 65536)
    return bad(fmt::format("'{}': no size", entry.substr(0, 40)), "give 1..65536 nodes");
  axis.size = static_cast<int>(*size);
  axis.weight = axis.name == "pp" || axis.name == "ep" ? kLightWeight : 1;
  if (colon == entry.size()) return axis;
  const auto weight = parse_number(entry.substr(colon + 1));
  if (!weight || *weight < 0 || *weight > 1e6)
    return bad(fmt::format("'{}': no weight", entry.substr(0, 40)), "give 0..1000000");
  axis.weight = *weight;
  return axis;
}

// One group of an axis: ranks first, first + stride, ...
void add_group(std::vector<Message>& round, const MeshAxis& axis, int first, int stride) {
  const auto rank = [&](int i) { return first + i * stride; };
  if (axis.size < 2 || axis.weight == 0) return;
  const double gb = kVectorGb * axis.weight;
  if (axis.name == "ep") {
    for (int i = 0; i < axis.size; ++i) {
      for (int j = 0; j < axis.size; ++j)
        if (i != j) round.push_back({rank(i), rank(j), gb / axis.size});
    }
  } else if (axis.name == "pp") {  // activations forwards, gradients backwards
    for (int i = 0; i + 1 < axis.size; ++i) {
      round.push_back({rank(i), rank(i + 1), gb});
      round.push_back({rank(i + 1), rank(i), gb});
    }
  } else {
    for (int i = 0; i < axis.size; ++i)
      round.push_back({rank(i), rank((i + 1) % axis.size), gb * ring_share(axis.size)});
  }
}

}  // namespace

Pattern ring(int nodes) {
  Pattern pattern{"ring", {{}}, true};
  for (int i = 0; i < nodes && nodes > 1; ++i)
    pattern.rounds[0].push_back({i, (i + 1) % nodes, kVectorGb * ring_share(nodes)});
  return pattern;
}

int tree_parent(int rank, int nodes) {
  if (rank == 0) return -1;
  const int bit = rank & -rank;
  const int up = (rank ^ bit) | (bit << 1);
  return up < nodes ? up : rank ^ bit;
}

Pattern double_tree(int nodes) {
  Pattern pattern{"tree", {{}}, false};
  for (int rank = 1; rank < nodes; ++rank) {
    const int parent = tree_parent(rank, nodes);
    add_edge(pattern.rounds[0], rank, parent);
    // The second tree is the first shifted by one rank, or mirrored if the number is even.
    const auto twin = [&](int r) { return nodes % 2 == 1 ? (r + 1) % nodes : nodes - 1 - r; };
    add_edge(pattern.rounds[0], twin(rank), twin(parent));
  }
  return pattern;
}

Pattern pat(int nodes) {
  Pattern pattern{"pat", {}, false};
  for (int distance = 1; distance < nodes; distance *= 2) {
    // Long distances carry few blocks, short ones many; both directions for the two halves of
    // AllReduce.
    const int blocks = (nodes + distance - 1) / (2 * distance);
    pattern.rounds.emplace_back();
    for (int rank = 0; rank < nodes; ++rank) {
      const int to = (rank + distance) % nodes;
      const double gb = kVectorGb * std::max(blocks, 1) / nodes;
      pattern.rounds.back().push_back({rank, to, gb});
      pattern.rounds.back().push_back({to, rank, gb});
    }
  }
  return pattern;
}

Result<Mesh> parse_mesh(std::string_view text, int nodes) {
  Mesh mesh;
  std::int64_t product = 1;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    auto axis = parse_axis(entry);
    if (!axis) return axis.error();
    if (std::ranges::find(mesh, axis->name, &MeshAxis::name) != mesh.end())
      return bad(fmt::format("two axes are called '{}'", axis->name.substr(0, 40)),
                 "give each a name of its own");
    if (mesh.size() == kAxesMax) return bad("too many axes", fmt::format("at most {}", kAxesMax));
    product = std::min<std::int64_t>(product * axis->size, std::int64_t{1} << 40);
    mesh.push_back(std::move(axis).value());
  }
  if (mesh.empty()) return bad("no axes", "write pp=4,dp=16");
  if (product != nodes)
    return bad(fmt::format("the axes make {} nodes, but there are {}", product, nodes),
               "count nodes, not GPUs: omit axes inside a node, such as tp");
  return mesh;
}

int stride_of(const Mesh& mesh, std::size_t axis) {
  int stride = 1;
  for (std::size_t i = axis + 1; i < mesh.size(); ++i)
    stride *= mesh[i].size;
  return stride;
}

Pattern mesh_pattern(const Mesh& mesh) {
  Pattern pattern{"mesh", {{}}, true};
  int nodes = 1;
  for (const MeshAxis& axis : mesh)
    nodes *= axis.size;
  for (std::size_t i = 0; i < mesh.size(); ++i) {
    const int stride = stride_of(mesh, i);
    for (int rank = 0; rank < nodes; ++rank)
      if (rank / stride % mesh[i].size == 0) add_group(pattern.rounds[0], mesh[i], rank, stride);
  }
  return pattern;
}

}  // namespace dlcp::order
