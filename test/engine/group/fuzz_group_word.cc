// Group words come from other ranks: raw bytes, and bytes with corrected magic and version.
#include <cstring>

#include "engine/group/group_word.h"
#include "fuzz_input.h"

using namespace dlcp;
using dlcp::test::require;

namespace {

void decode(std::span<const std::byte> bytes) {
  auto word = engine::decode_group_word(bytes);
  if (!word.ok()) {
    require(!word.error().what.empty(), "a refusal has a message");
    return;
  }
  require(word->rank < word->members(), "the sender is a rank or a hub of the group");
  auto again = engine::decode_group_word(engine::encode(word.value()));
  require(again.ok() && engine::encode(again.value()) == engine::encode(word.value()),
          "an accepted word encodes to an equivalent one");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  decode(std::as_bytes(std::span(data, size)));
  engine::GroupWord::Bytes bytes = engine::encode({});
  if (size > 5) std::memcpy(bytes.data() + 5, data + 5, std::min(size, bytes.size()) - 5);
  decode(bytes);
  return 0;
}
