// The traffic of a collective between node ranks, by which an order is judged: sender, receiver and
// bytes of each message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace dlcp::order {

struct Message {
  int from = 0, to = 0;  // ranks of nodes
  double gb = 0;         // 10^9 bits
};

// Messages of one round are sent at the same time; rounds follow each other.
struct Pattern {
  std::string name;
  std::vector<std::vector<Message>> rounds;
  bool sequential = false;  // for latency: messages of a round wait for each other, as in a ring
};

// AllReduce of 10^9 bytes over `nodes`: ring; NCCL's two trees (Sanders, Speck, Träff 2009), half
// of the bytes in each; PAT (NCCL 2.23), with ReduceScatter and AllGather in a logarithmic number
// of rounds.
Pattern ring(int nodes);
Pattern double_tree(int nodes);
Pattern pat(int nodes);

// The parent of a rank in NCCL's first tree; -1 for the root, which is rank 0.
int tree_parent(int rank, int nodes);

// A training job's grid of nodes, slowest axis first: "pp=4,dp=16". An axis named pp is a chain
// from stage to stage, ep an all-to-all exchange; other axes (dp, cp, fsdp, ...) are rings.
// "dp=16:2" sets the weight of an axis. By default rings have weight 1 and the others 0.1, as they
// carry much less traffic.
struct MeshAxis {
  std::string name;
  int size = 1;
  double weight = 1;
};
using Mesh = std::vector<MeshAxis>;

// The product of the sizes must be `nodes`.
Result<Mesh> parse_mesh(std::string_view text, int nodes);
// All groups of all axes at the same time.
Pattern mesh_pattern(const Mesh& mesh);
// Difference in rank between neighbours along an axis.
int stride_of(const Mesh& mesh, std::size_t axis);

}  // namespace dlcp::order
