// The commented sample intent that `dlcp-switch init` writes; also what README shows.
#pragma once

#include <string_view>

namespace dlcp::fabric::cli {

std::string_view sample_intent();

// Overrides of the class table that keep out of AF1x, AF2x and CS5, which sites often use.
std::string_view local_classes();

}  // namespace dlcp::fabric::cli
