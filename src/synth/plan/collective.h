// The four collectives that plans are made for.
#pragma once

#include <optional>
#include <string_view>

namespace dlcp::synth {

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kAllToAll };

inline constexpr Collective kCollectives[] = {Collective::kAllReduce, Collective::kAllGather,
                                              Collective::kReduceScatter, Collective::kAllToAll};

constexpr const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce:
      return "allreduce";
    case Collective::kAllGather:
      return "allgather";
    case Collective::kReduceScatter:
      return "reducescatter";
    case Collective::kAllToAll:
      return "alltoall";
  }
  return "?";
}

constexpr std::optional<Collective> collective_of(std::string_view name) {
  for (const Collective collective : kCollectives)
    if (name == name_of(collective)) return collective;
  return std::nullopt;
}

}  // namespace dlcp::synth
