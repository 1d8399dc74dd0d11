#include "cli/command_line/output/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command_line/output/json_text.h"
#include "cli/command_line/terminal.h"

namespace dlcp::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestText = 30;  // the least width of a wrapped last column

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::size_t> column_widths(const Document& document) {
  std::vector<std::size_t> widths;
  for (const std::string& heading : document.headings)
    widths.push_back(heading.size());
  for (const auto& row : document.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  return widths;
}

std::string columns(const Document& document, const std::vector<std::size_t>& widths,
                    std::size_t before_last, std::size_t width) {
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string head;
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      head += fmt::format("{:<{}}", cells[i], widths[i] + kGap);
    if (cells.back().empty()) return head.substr(0, head.find_last_not_of(' ') + 1) + "\n";
    return head + beside("", cells.back(), before_last, width).substr(head.size());
  };
  std::string text = line(document.headings);
  for (const auto& row : document.rows)
    text += line(row);
  return text;
}

std::string paragraphs(const Document& document, std::size_t width) {
  std::string text;
  for (const auto& row : document.rows) {
    std::string facts;
    for (std::size_t i = 1; i + 1 < row.size(); ++i)
      if (!row[i].empty())
        facts += fmt::format("{}{} {}", facts.empty() ? "" : "; ", document.headings[i], row[i]);
    text += row.front() + "\n" + wrapped(facts, width, 4) + wrapped(row.back(), width, 4);
  }
  return text;
}

std::string markdown_cell(std::string cell) {
  for (std::size_t bar = cell.find('|'); bar != std::string::npos; bar = cell.find('|', bar + 2))
    cell.insert(bar, 1, '\\');
  return cell;
}

}  // namespace

Document Document::filtered(const std::string& word) const {
  Document some = *this;
  std::erase_if(some.rows, [wanted = lower(word)](const auto& row) {
    return std::ranges::none_of(row, [&](const std::string& cell) {
      return lower(cell).find(wanted) != std::string::npos;
    });
  });
  return some;
}

std::string Document::to_text(std::size_t width) const {
  const auto widths = column_widths(*this);
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    before_last += widths[i] + kGap;
  const bool fits = before_last + std::min(widths.back(), kNarrowestText) <= width;
  return fits ? columns(*this, widths, before_last, width) : paragraphs(*this, width);
}

std::string Document::to_markdown() const {
  std::string text = "|";
  for (const std::string& heading : headings)
    text += fmt::format(" {} |", heading);
  text += "\n|";
  for (std::size_t i = 0; i < headings.size(); ++i)
    text += "---|";
  text += "\n";
  for (const auto& row : rows) {
    text += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = markdown_cell(row[i]);
      text += i == 0 && first_is_code ? fmt::format(" `{}` |", cell) : fmt::format(" {} |", cell);
    }
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json Document::to_json() const {
  auto json = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string key = lower(headings[i]);
      std::ranges::replace(key, ' ', '_');
      object[key] = row[i];
    }
    json.push_back(std::move(object));
  }
  return json;
}

void add_document_verb(CLI::App& app, ExitCode& exit_code, const std::string& name,
                       const std::string& description, std::function<Document()> make) {
  struct Options {
    std::string word;
    bool json = false;
    bool markdown = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App& verb = add_verb(app, name, description);
  add_text(verb, "WORD", options->word, "Print only rows that contain this word");
  auto* json = add_flag(verb, "--json", options->json, "Print a JSON array");
  auto* markdown =
      add_flag(verb, "--markdown", options->markdown, "Print a Markdown table, for documents");
  exclude_each_other(markdown, json);
  complete(verb, "", [options, name, make = std::move(make), &exit_code] {
    const Document document = make().filtered(options->word);
    if (document.rows.empty()) {
      fmt::print(stderr, "dlcp {}: no row contains '{}'; `dlcp {}` prints all rows\n", name,
                 options->word, name);
      exit_code = ExitCode::kUsage;
      return;
    }
    fmt::print("{}", options->json       ? json_text(document.to_json(), 2) + "\n"
                     : options->markdown ? document.to_markdown()
                                         : document.to_text(output_width()));
    exit_code = ExitCode::kOk;
  });
}

}  // namespace dlcp::cli
