// A table of the program's data (settings, counters, interfaces), as text, Markdown or JSON; and
// the verb that prints one.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/command_line/options/options.h"
#include "cli/exit_code.h"

namespace dlcp::cli {

struct Document {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  // as many cells as headings
  bool first_is_code = false;                  // the first column holds names that users type

  // Rows with `word` in any cell, ignoring case.
  Document filtered(const std::string& word) const;

  // Columns if they fit; otherwise each row as a paragraph, with its last cell below.
  std::string to_text(std::size_t width) const;
  std::string to_markdown() const;
  // An array of objects, by heading ("net_interface" for "net interface").
  nlohmann::ordered_json to_json() const;
};

// `dlcp NAME [WORD]` with --json and --markdown. Exit code: 0; 2 if no row contains WORD.
void add_document_verb(CLI::App& app, ExitCode& exit_code, const std::string& name,
                       const std::string& description, std::function<Document()> make);

}  // namespace dlcp::cli
