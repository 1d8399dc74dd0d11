#include "nccl/loss/licence_grant.h"

namespace dlcp::nccl {
namespace {

// NCCL's buffer has eight steps. In a Simple ring, a message takes two of them and a chunk four.
constexpr std::size_t kBufferSteps = 8;
constexpr std::size_t kMessageSteps = 2;
constexpr std::size_t kChunkSteps = 4;
constexpr std::uint32_t kMessagesPerChunk = kChunkSteps / kMessageSteps;

// The 0-based stage of a ring operation that the context's message belongs to. A loop carries
// partial sums in its first ranks - 1 stages. nullopt if the operation does not consist of such
// loops.
std::optional<std::uint32_t> stage_of(const OpContext& context) {
  const std::uint32_t half = context.ranks - 1;
  const std::uint32_t stages =
      context.collective.function == Function::kAllReduce ? 2 * half : half;
  const std::uint32_t per_loop = stages * kMessagesPerChunk;
  if (context.steps % per_loop != 0 || context.step >= context.steps) return std::nullopt;
  return context.step % per_loop / kMessagesPerChunk;
}

bool agree(const TransferAttributes& attributes, const Collective& collective) {
  return only(attributes.function, collective.function) &&
         only(attributes.algorithm, collective.algorithm) &&
         only(attributes.protocol, collective.protocol);
}

Exact examine(const Collective& collective) {
  if (collective.function != Function::kAllReduce &&
      collective.function != Function::kReduceScatter)
    return Exact::kFunction;
  if (collective.algorithm != Algorithm::kRing) return Exact::kAlgorithm;
  if (collective.protocol != Protocol::kSimple) return Exact::kProtocol;
  return collective.type != gradient::ElementType::kOther ? Exact::kNot : Exact::kType;
}

}  // namespace

const char* words_for(Exact why) {
  switch (why) {
    case Exact::kNot:
      return "may lose data";
    case Exact::kNoBudget:
      return "no budget";
    case Exact::kFunction:
      return "neither AllReduce nor ReduceScatter";
    case Exact::kFinalValues:
      return "final values";
    case Exact::kOutsideNccl:
      return "not part of a collective";
    case Exact::kNoProfiler:
      return "NCCL does not describe its transfers, because DLCP's profiler is not loaded (NCCL "
             "2.27: set NCCL_PROFILER_PLUGIN to the file of this plugin; another profiler "
             "replaces it, and then only ReduceScatter may lose, if the trafficClass states the "
             "data type and DLCP's tuner is loaded)";
    case Exact::kUnknown:
      return "NCCL's profiler has no record of the transfer";
    case Exact::kSplit:
      return "another communicator was split from it, to which its trafficClass does not apply";
    case Exact::kContradiction:
      return "setNetAttr and NCCL's profiler report different operations";
    case Exact::kAlgorithm:
      return "the algorithm is not Ring";
    case Exact::kProtocol:
      return "the protocol is not Simple";
    case Exact::kType:
      return "the data type is not fp32, fp16 or bf16";
    case Exact::kSteps:
      return "the ring is not split into messages as in NCCL 2.27 to 2.30 (check that "
             "NCCL_BUFFSIZE is the same on all ranks)";
  }
  return "";
}

Exact ruled_out(const TransferAttributes& attributes) {
  if (!only(attributes.function, Function::kAllReduce) &&
      !only(attributes.function, Function::kReduceScatter))
    return Exact::kFunction;
  if (!only(attributes.algorithm, Algorithm::kRing)) return Exact::kAlgorithm;
  return only(attributes.protocol, Protocol::kSimple) ? Exact::kNot : Exact::kProtocol;
}

Ruling judge_by_attributes(const LossTerms& terms, const TransferAttributes& attributes,
                           std::uint32_t ranks) {
  if (const Exact why = ruled_out(attributes); why != Exact::kNot) return {why, {}};
  if (!terms.any()) return {Exact::kNoBudget, {}};
  if (!only(attributes.function, Function::kReduceScatter) ||
      terms.stated_type == gradient::ElementType::kOther || ranks < 2)
    return {Exact::kNoProfiler, {}};
  Ruling ruling{Exact::kNot, {}};
  core::Licence& licence = ruling.licence;
  licence.ranks = licence.hops = ranks;
  licence.stage = ranks - 2;  // the stage in which a loss costs most
  licence.budget_ppm = terms.budget_ppm;
  licence.element = terms.stated_type;
  licence.urgent = terms.priority == CommunicatorClass::Priority::kUrgent;
  return ruling;
}

bool cut_as_known(const OpContext& context, std::size_t posted_bytes, std::size_t buffer_bytes) {
  const std::size_t step_bytes = buffer_bytes / kBufferSteps;
  return posted_bytes == step_bytes * kMessageSteps &&
         context.chunk_bytes == step_bytes * kChunkSteps * kMessageSteps;
}

Ruling judge(const LossTerms& terms, const OpContext& context,
             const std::optional<TransferAttributes>& attributes) {
  const Collective& collective = context.collective;
  if (!terms.any()) return {Exact::kNoBudget, {}};
  if (attributes && !agree(*attributes, collective)) return {Exact::kContradiction, {}};
  if (const Exact why = examine(collective); why != Exact::kNot) return {why, {}};
  if (terms.stated_type != gradient::ElementType::kOther && terms.stated_type != collective.type)
    return {Exact::kType, {}};
  if (context.ranks < 2 || collective.channels == 0) return {Exact::kSteps, {}};
  const auto stage = stage_of(context);
  if (!stage) return {Exact::kSteps, {}};
  if (*stage + 1 >= context.ranks) return {Exact::kFinalValues, {}};
  Ruling ruling{Exact::kNot, {}};
  core::Licence& licence = ruling.licence;
  licence.result_bytes =
      collective.count * gradient::element_bytes(collective.type) / collective.channels;
  licence.ranks = context.ranks;
  licence.hops = context.ranks;  // how many of the hops cross the network is unknown
  licence.stage = *stage;
  licence.budget_ppm = terms.budget_ppm;
  licence.element = collective.type;
  using Priority = CommunicatorClass::Priority;
  licence.urgent = terms.priority == Priority::kUrgent ||
                   (terms.priority == Priority::kLearned && context.urgent);
  return ruling;
}

}  // namespace dlcp::nccl
