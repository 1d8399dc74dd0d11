// Text for a terminal: wrapped at blanks, and tables as lists, which fit any width.
#pragma once

#include <cstddef>
#include <string>

namespace dlcp::fabric::cli {

// The terminal's width, limited to 40..100; 80 if stdout is not a terminal.
std::size_t output_width();

// Wraps the text's lines at blanks and indents each with `indent` blanks; a word that is too long
// has a line of its own.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

// A Markdown table as a list: for each row its first two cells, and below them the other cells,
// each after its column's header. Empty cells are left out.
std::string as_list(const std::string& table, std::size_t width);

}  // namespace dlcp::fabric::cli
