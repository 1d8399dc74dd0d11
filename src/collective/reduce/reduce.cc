// Chooses the implementation once, by the processor, and the loop by type and operation.
#include "collective/reduce/reduce.h"

#include <utility>

#include "collective/reduce/reduce_strips.h"
#if defined(__x86_64__)
#include "collective/reduce/reduce_avx2.h"
#define DLCP_VECTOR_LOOPS
#elif defined(__aarch64__)
#include "collective/reduce/reduce_neon.h"
#define DLCP_VECTOR_LOOPS
#endif

namespace dlcp::collective {
namespace {

struct Portable {
  template <class Domain, std::size_t kInputs, bool kFirst>
  [[gnu::noinline]] static void fold(typename Domain::Sum* sums, const std::byte* const* inputs,
                                     std::size_t offset, std::size_t count) {
    fold_elements<Domain, kInputs, kFirst>(sums, inputs, offset, count);
  }
  template <class Domain>
  [[gnu::noinline]] static void store(const typename Domain::Sum* sums, std::byte* out,
                                      std::size_t count) {
    store_elements<Domain>(sums, out, count);
  }
};

using Loop = void (*)(const Work& work);
using Loops = std::array<Loop, kDataTypes * kReduceOps>;

template <class Form, std::size_t... kIndex>
constexpr Loops loops_of(std::index_sequence<kIndex...>) {
  constexpr auto loop = []<std::size_t index>() -> Loop {
    constexpr auto type = static_cast<DataType>(index / kReduceOps);
    constexpr auto op = static_cast<ReduceOp>(index % kReduceOps);
    using Domain = typename DomainOf<type, op>::Domain;
    return reduce_strips < Form, Domain, is_floating(type) && op == ReduceOp::kSum > ;
  };
  return {loop.template operator()<kIndex>()...};
}

template <class Form>
void reduce_as(DataType type, ReduceOp op, std::span<const std::byte* const> inputs,
               std::size_t bytes, const CellCounts* counts, std::byte* out) {
  static constexpr Loops kLoops =
      loops_of<Form>(std::make_index_sequence<kDataTypes * kReduceOps>());
  if (!can_reduce(type, op) || inputs.empty()) return;
  const std::size_t elements = bytes / bytes_of(type);
  if (inputs.size() == 1) {
    std::memmove(out, inputs[0], elements * bytes_of(type));
    return;
  }
  const std::size_t index =
      static_cast<std::size_t>(type) * kReduceOps + static_cast<std::size_t>(op);
  kLoops[index]({inputs, elements, counts, out});
}

const ReduceForm& best() {
  static const ReduceForm* const form = [] {
    const ReduceForm* best = &reduce_forms().front();
    for (const ReduceForm& candidate : reduce_forms())
      if (candidate.supported) best = &candidate;
    return best;
  }();
  return *form;
}

}  // namespace

void reduce(DataType type, ReduceOp op, std::span<const std::byte* const> inputs, std::size_t bytes,
            std::byte* out) {
  best().reduce(type, op, inputs, bytes, nullptr, out);
}

void reduce_scaled(DataType type, std::span<const std::byte* const> inputs, std::size_t bytes,
                   const CellCounts& counts, std::byte* out) {
  best().reduce(type, ReduceOp::kSum, inputs, bytes, &counts, out);
}

std::span<const ReduceForm> reduce_forms() {
  static const std::array forms {
    ReduceForm{"portable", reduce_as<Portable>, true},
#if defined(DLCP_VECTOR_LOOPS)
        ReduceForm{kVectorName, reduce_as<Vectors>, has_vectors()},
#endif
  };
  return forms;
}

}  // namespace dlcp::collective
