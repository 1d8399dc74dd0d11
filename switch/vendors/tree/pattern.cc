#include "switch/vendors/tree/pattern.h"

#include "switch/vendors/words.h"

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
}

std::optional<Captures> Pattern::begins(std::string_view statement, std::size_t& taken) const {
  return match(statement, true, &taken);
}

std::optional<Captures> Pattern::match(std::string_view statement, bool prefix,
                                       std::size_t* taken) const {
  Captures captures;
  std::size_t at = 0;
  for (const Word& word : words_) {
    const bool ends = at >= statement.size();
    if (word.rest) {
      if (word.hole == "*") return captures;
      if (ends) return std::nullopt;
      captures[word.hole] = statement.substr(at);
      return captures;
    }
    if (ends) return std::nullopt;
    auto end = statement.find(' ', at);
    if (end == std::string_view::npos) end = statement.size();
    const auto seen = statement.substr(at, end - at);
    if (!seen.starts_with(word.fixed) || (word.hole.empty() && seen.size() != word.fixed.size()))
      return std::nullopt;
    if (!word.hole.empty()) {
      const auto around = word.fixed.size() + word.tail.size();
      if (seen.size() <= around || seen == ">" || !seen.ends_with(word.tail)) return std::nullopt;
      captures[word.hole] = seen.substr(word.fixed.size(), seen.size() - around);
    }
    if (taken != nullptr) *taken = end;
    at = end + 1;
  }
  if (!prefix && at < statement.size()) return std::nullopt;
  return captures;
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

}  // namespace dlcp::fabric::tree
