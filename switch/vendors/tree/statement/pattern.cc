#include "switch/vendors/tree/statement/pattern.h"

#include "switch/vendors/text/words.h"

namespace dlcp::fabric::tree {

Pattern::Pattern(std::string_view text) : text_(text) {
  for (const auto& word : words_of(text_)) {
    const auto open = word.find('{');
    const auto close = word.find('}');
    if (open == std::string::npos || close == std::string::npos || close < open) {
      words_.push_back({word, "", "", false});
      continue;
    }
    std::string hole = word.substr(open + 1, close - open - 1);
    const bool rest = !hole.empty() && hole.back() == '*';
    if (rest) hole.pop_back();
    words_.push_back(
        {word.substr(0, open), rest && hole.empty() ? "*" : hole, word.substr(close + 1), rest});
  }
  for (const Word& word : words_) {
    if (!word.hole.empty()) break;
    head_ += (head_.empty() ? "" : " ") + word.fixed;
  }
}

// Compares the head's last character first: it distinguishes most statements, whose beginnings are
// alike.
bool Pattern::begins_with_head(std::string_view statement) const {
  if (head_.empty()) return true;
  return statement.size() >= head_.size() && statement[head_.size() - 1] == head_.back() &&
         statement.starts_with(head_);
}

std::optional<Captures> Pattern::match(std::string_view statement) const {
  if (!scan(statement, false, nullptr, nullptr)) return std::nullopt;
  Captures captures;
  scan(statement, false, nullptr, &captures);
  return captures;
}

std::optional<Captures> Pattern::begins(std::string_view statement, std::size_t& taken) const {
  if (!scan(statement, true, &taken, nullptr)) return std::nullopt;
  Captures captures;
  scan(statement, true, &taken, &captures);
  return captures;
}

bool Pattern::scan(std::string_view statement, bool prefix, std::size_t* taken,
                   Captures* captures) const {
  if (!begins_with_head(statement)) return false;
  std::size_t at = 0;
  for (const Word& word : words_) {
    const bool ends = at >= statement.size();
    if (word.rest) {
      if (word.hole == "*") return true;
      if (ends) return false;
      if (captures != nullptr) (*captures)[word.hole] = statement.substr(at);
      return true;
    }
    if (ends || !statement.substr(at).starts_with(word.fixed)) return false;
    auto end = at + word.fixed.size();
    if (word.hole.empty()) {
      if (end < statement.size() && statement[end] != ' ') return false;
    } else {
      end = statement.find(' ', at);
      if (end == std::string_view::npos) end = statement.size();
      const auto seen = statement.substr(at, end - at);
      const auto around = word.fixed.size() + word.tail.size();
      if (seen.size() <= around || seen == ">" || !seen.ends_with(word.tail)) return false;
      if (captures != nullptr)
        (*captures)[word.hole] = seen.substr(word.fixed.size(), seen.size() - around);
    }
    if (taken != nullptr) *taken = end;
    at = end + 1;
  }
  return prefix || at >= statement.size();
}

std::string Pattern::filled(const Captures& captures) const {
  std::string result;
  for (const Word& word : words_) {
    result += (result.empty() ? "" : " ") + word.fixed;
    if (word.hole.empty()) continue;
    const auto found = captures.find(word.hole);
    result += (found == captures.end() ? "{" + word.hole + "}" : found->second) + word.tail;
  }
  return result;
}

std::string with_holes_filled(std::string text, const Captures& captures) {
  for (const auto& [hole, value] : captures) {
    const auto marked = "{" + hole + "}";
    for (auto at = text.find(marked); at != std::string::npos;
         at = text.find(marked, at + value.size()))
      text.replace(at, marked.size(), value);
  }
  return text;
}

}  // namespace dlcp::fabric::tree
