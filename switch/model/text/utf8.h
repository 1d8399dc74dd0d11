// All input files must be UTF-8 (RFC 3629): names from them are copied into JSON, guards and
// reports, which cannot represent anything else.
#pragma once

#include <optional>
#include <string_view>

namespace dlcp::fabric {

std::optional<int> first_line_not_utf8(std::string_view text);  // from 1; nullopt: all is UTF-8

}  // namespace dlcp::fabric
