#include "dlcp/communicator_class.h"

#include "catch.h"
#include "nccl/loss/loss_terms.h"

namespace {

using dlcp::CommunicatorClass;
using dlcp::decode_communicator_class;
using dlcp::encode;

}  // namespace

TEST_CASE("a communicator's number decodes to the values it was made of") {
  for (const std::uint32_t budget : {0u, 1u, 10'000u, CommunicatorClass::kBudgetPpmMax}) {
    for (int priority = 0; priority <= 2; ++priority) {
      for (int type = 0; type <= 3; ++type) {
        const CommunicatorClass from{budget, static_cast<CommunicatorClass::Priority>(priority),
                                     static_cast<CommunicatorClass::Type>(type)};
        const int number = encode(from);
        REQUIRE(number >= 1140850688);
        REQUIRE(number <= 1145044991);
        const auto back = decode_communicator_class(number);
        REQUIRE(back.has_value());
        CHECK(back->budget_ppm == from.budget_ppm);
        CHECK(back->priority == from.priority);
        CHECK(back->type == from.type);
      }
    }
  }
}

TEST_CASE("other numbers decode to nothing") {
  CHECK_FALSE(decode_communicator_class(-1).has_value());
  CHECK_FALSE(decode_communicator_class(0).has_value());
  CHECK_FALSE(
      decode_communicator_class(106).has_value());  // a plain traffic class, as for InfiniBand
  CHECK_FALSE(decode_communicator_class(1140850687).has_value());
  CHECK_FALSE(decode_communicator_class(1145044992).has_value());
  CHECK_FALSE(decode_communicator_class(encode({}) | 1 << 31).has_value());
  CHECK_FALSE(
      decode_communicator_class(encode({}) | 3 << 18).has_value());  // an undefined priority
  CHECK_FALSE(decode_communicator_class(encode({}) | 250'001).has_value());
}

TEST_CASE("a communicator's own number takes precedence over the process's budget") {
  using dlcp::nccl::loss_terms;
  CHECK(loss_terms(5000, -1).budget_ppm == 5000);
  CHECK(loss_terms(5000, 106).budget_ppm == 5000);
  CHECK(loss_terms(5000, encode({.budget_ppm = 7})).budget_ppm == 7);
  CHECK_FALSE(loss_terms(5000, encode({})).any());
  CHECK_FALSE(loss_terms(0, -1).any());
}
