// The width of the output, and text wrapped to a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlcp::cli {

// Columns of stdout: the terminal's width, limited to 40..100; 80 if it is not a terminal.
std::size_t output_width();

// Whether the descriptor is a terminal that can redraw a line; a "dumb" terminal cannot.
bool can_draw(int descriptor);

// `text` in lines of at most `width` columns, broken at blanks; each line begins with `indent`
// blanks, and newlines in `text` stay. A word that is too long has its own line. Ends with a
// newline unless empty.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// `name` in a column of `column` blanks and `text` wrapped to the right of it, or below it if
// `name` is longer.
std::string beside(std::string_view name, std::string_view text, std::size_t column,
                   std::size_t width);

}  // namespace dlcp::cli
