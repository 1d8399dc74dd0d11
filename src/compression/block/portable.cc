// The form of the code that every processor can run.
#define DLCP_FORM portable
#define DLCP_TARGET
#include "compression/block/code.h"

namespace dlcp::compression {

const BlockForm& portable_form() {
  static constexpr BlockForm kForm = portable::form_of<portable::Loops>(
      "portable", true, std::make_index_sequence<kFormatCount>());
  return kForm;
}

}  // namespace dlcp::compression
