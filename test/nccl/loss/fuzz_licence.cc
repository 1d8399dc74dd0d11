// Profiler events in any order, with any handles, and communicators' numbers: whatever NCCL or
// another process's proxy passes, only a partial sum of a licensed ring gets a licence.
#include "dlcp/communicator_class.h"
#include "fuzz_input.h"
#include "nccl/loss/licence_grant.h"
#include "nccl/profiler/event_table.h"

using namespace dlcp;
using namespace dlcp::nccl;
using dlcp::test::FuzzInput;
using dlcp::test::require;

namespace {

LossTerms any_terms(FuzzInput& input) {
  const int number = input.take<int>();
  if (const auto read = decode_communicator_class(number)) {
    require(encode(*read) == number, "a number survives reading and writing");
    require(read->budget_ppm <= CommunicatorClass::kBudgetPpmMax, "the budget is in range");
  }
  return loss_terms(input.take<std::uint32_t>() % (core::kBudgetPpmMax + 1), number);
}

Collective any_collective(FuzzInput& input) {
  Collective out;
  out.function = static_cast<Function>(input.take<std::uint8_t>() % 6);
  out.algorithm = static_cast<Algorithm>(input.take<std::uint8_t>() % 3);
  out.protocol = static_cast<Protocol>(input.take<std::uint8_t>() % 4);
  out.type = static_cast<gradient::ElementType>(input.take<std::uint8_t>() % 4);
  out.count = input.take<std::uint64_t>();
  out.channels = input.take<std::uint8_t>();
  return out;
}

ProfiledProxyOp any_operation(FuzzInput& input) {
  return {.pid = 0,
          .channelId = input.take<std::uint8_t>(),
          .peer = input.take<std::uint8_t>(),
          .nSteps = input.take<std::uint16_t>(),
          .chunkSize = input.take<int>(),
          .isSend = input.take<bool>() ? 1 : 0};
}

void check(const LossTerms& terms, const OpContext& context,
           const std::optional<TransferAttributes>& attributes) {
  const Ruling ruling = judge(terms, context, attributes);
  if (ruling.exact != Exact::kNot) return;
  const Collective& of = context.collective;
  require(terms.any(), "the loss terms are set");
  require(of.function == Function::kAllReduce || of.function == Function::kReduceScatter,
          "a reduction to partial sums");
  require(of.algorithm == Algorithm::kRing && of.protocol == Protocol::kSimple, "a Simple ring");
  require(gradient::element_bytes(of.type) > 0, "a floating-point type");
  require(ruling.licence.stage + 1 < context.ranks, "a partial sum");
  require(ruling.licence.hops >= context.ranks, "the number of hops is in range");
  require(ruling.licence.budget_ppm == terms.budget_ppm, "the user's budget");
  require(
      of.channels > 0 && ruling.licence.result_bytes <= of.count * gradient::element_bytes(of.type),
      "a channel's share of the result");
  require(!attributes || ruled_out(*attributes) == Exact::kNot, "setNetAttr agrees");
}

void check_without_profiler(const LossTerms& terms, const TransferAttributes& attributes,
                            std::uint32_t ranks) {
  const Ruling ruling = judge_by_attributes(terms, attributes, ranks);
  if (ruling.exact != Exact::kNot) return;
  require(terms.any(), "the loss terms are set");
  require(attributes.function == 1u << 3 && attributes.algorithm == 1u << 1 &&
              attributes.protocol == 1u << 2,
          "a Simple ring of ReduceScatter");
  require(terms.from_communicator_class && gradient::element_bytes(terms.stated_type) > 0,
          "a floating-point type that the user has stated");
  require(ranks >= 2 && ruling.licence.stage + 2 == ranks, "the dearest stage");
  require(ruling.licence.budget_ppm == terms.budget_ppm, "the user's budget");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const LossTerms terms = any_terms(input);
  EventTable table(1, input.take<std::uint8_t>());
  EventTable::EventHandle known[4] = {};
  while (!input.empty()) {
    const auto place = input.take<std::uint8_t>() % 4;
    const auto handle = input.take<bool>() ? known[place] : input.take<EventTable::EventHandle>();
    switch (input.take<std::uint8_t>() % 4) {
      case 0:
        known[place] = table.start_collective(time_from_ns(input.take<std::uint32_t>()),
                                              any_collective(input));
        require(known[place] != 0, "a collective has a handle");
        break;
      case 1:
        known[place] = table.start_operation(handle, any_operation(input));
        break;
      case 2:
        known[place] = EventTable::step_of(handle, input.take<std::uint32_t>());
        break;
      default: {
        std::optional<TransferAttributes> attributes;
        if (input.take<bool>()) {
          // Mostly single bits, as NCCL sets them.
          const auto mask = [&] {
            const auto bits = input.take<std::uint32_t>();
            return bits % 8 != 0 ? 1u << (bits / 8 % 6) : bits;
          };
          attributes = {mask(), mask(), mask()};
          check_without_profiler(terms, *attributes, input.take<std::uint8_t>() % 6);
        }
        if (const auto context = table.find(handle)) check(terms, *context, attributes);
        break;
      }
    }
  }
  return 0;
}
