#include "cli/order/order_input.h"

#include <fmt/format.h>

#include "cli/command_line/text_file.h"

namespace dlcp::cli {

Result<fabric::OrderFile> read_order_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text)
    return Error{text.error().code, text.error().what, "`dlcp order -o FILE` writes an order file"};
  auto read = fabric::read_order(text.value());
  if (!read)
    return Error{read.error().code, fmt::format("{}: {}", path, read.error().what),
                 read.error().hint};
  return read;
}

}  // namespace dlcp::cli
