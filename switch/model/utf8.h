// Every file that is read is UTF-8 (RFC 3629): what a switch calls things goes into JSON, guards
// and reports, which have no other way to write it.
#pragma once

#include <optional>
#include <string_view>

namespace dlcp::fabric {

std::optional<int> first_line_not_utf8(std::string_view text);  // from 1; nullopt: all of it is

}  // namespace dlcp::fabric
