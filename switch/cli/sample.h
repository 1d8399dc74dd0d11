// The commented sample intent that `dlcp-switch init` writes; also what README shows.
#pragma once

#include <string_view>

namespace dlcp::fabric::cli {

std::string_view sample_intent();

}  // namespace dlcp::fabric::cli
