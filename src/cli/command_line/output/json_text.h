// The text of JSON that `dlcp` prints, on one line or indented. Values of environment variables,
// paths and names of hosts may contain bytes that are not UTF-8. Without the error handler, dump()
// throws on them; here they become U+FFFD.
#pragma once

#include <string>

namespace dlcp::cli {

template <typename Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace dlcp::cli
