// How wide what is printed may be, and text broken into lines of that width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlcp::cli {

// Columns for what goes to stdout: the terminal's, 40..100; 80 where it is no terminal.
std::size_t output_width();

// Whether that is a terminal on which a line can be drawn over: not one that calls itself dumb.
bool can_draw(int descriptor);

// `text` in lines of at most `width` columns, broken at blanks; each line begins with `indent`
// blanks, and newlines in `text` stay. A word that is too long keeps a line of its own. Ends with a
// newline unless empty.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// `name` in a column of `column` blanks, `text` wrapped beside it, or below where it is longer.
std::string beside(std::string_view name, std::string_view text, std::size_t column,
                   std::size_t width);

}  // namespace dlcp::cli
