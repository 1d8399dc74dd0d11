// Text on a terminal: broken at blanks, and tables as lists, which no terminal is too narrow for.
#pragma once

#include <cstddef>
#include <string>

namespace dlcp::fabric::cli {

// The terminal's width, 40..100; 80 where stdout is none.
std::size_t output_width();

// The text's lines, each broken at blanks and begun with `indent` of them; a word that is too long
// keeps a line of its own.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

// A table of Markdown as a list: of each row the first two cells, and below them what the others
// say, each behind its column's head. Empty cells say nothing.
std::string as_list(const std::string& table, std::size_t width);

}  // namespace dlcp::fabric::cli
