// A configuration as statements, whatever its syntax: one line each, with everything that leads to
// it before it. "interface Ethernet1/1 > service-policy type qos input P" is a line in a block;
// "qos queues queue q5 queue-index 5" is one of flat text or of a JSON tree. Two configurations are
// the same when they have the same statements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "switch/model/problem.h"

namespace dlcp::fabric::tree {

// 512 ports with everything set are some 10,000.
inline constexpr std::size_t kStatementsMax = 400'000;

enum class Syntax {
  kBlocks,  // indented lines: a line is inside of the nearest one before it with less indentation
  kFlat,    // "set a b c": every line says all of it
  kJson,    // RFC 7951, as gNMI carries it
  kOperations,  // YAML, a list of `set` operations over one tree, as NVUE has it
};

struct Statement {
  std::string text;
  int line = 0;          // of the file; 0: made here
  bool implied = false;  // what the system does where the configuration says nothing
};
using Statements = std::vector<Statement>;

// What makes a JSON tree of statements and back: which lists have which key, and how leaves are
// written.
struct JsonShape {
  std::map<std::string, std::string> keys;     // list, with what is above it -> its key leaves
  std::map<std::string, std::string> modules;  // names that lead to a node -> the prefix it needs
  // Leaves, each by the end of the names that lead to it ("config value").
  std::vector<std::string> leaf_lists;
  std::vector<std::string> numbers;   // JSON numbers; all others are strings
  std::vector<std::string> booleans;  // true or false
};

// Lines that name several numbers at once, each of which is a statement of its own: "qos map dscp 8
// 10-12 to traffic-class 1". Errors: what is between the two is no list, or goes beyond `max`.
struct NumberList {
  std::string before, after;
  int max = 0;
};

struct Reader {
  Syntax syntax = Syntax::kBlocks;
  std::string prefix;              // of flat lines: "set "
  std::vector<std::string> roots;  // only statements that begin so are kept; of operations: {hole}
  JsonShape json;
  std::vector<NumberList> lists;
  std::string kept_comment;    // of blocks: comments that begin so are statements; empty: none
  std::string ends_with = {};  // what the system prints last: a line of blocks; of operations, what
                               // is read that its order has last; empty: nothing
  std::string names_itself = {};         // before the switch's own name, which is no statement
  std::vector<std::string> ranged = {};  // of operations: lists with keys like "swp1-4,swp6"
};

// The key leaves of a list, given by the names that lead to it ("qos queues queue"); empty: no
// list.
std::vector<std::string> keys_of(const JsonShape& shape, std::string_view names);

// Errors: text that is an error message of a switch, JSON that is none, more than 400,000
// statements. Warnings: a last line without its end, or another one than the system prints last.
Checked<Statements> read_statements(const Reader& reader, const std::string& file,
                                    const std::string& text);

// The same for operations: an entry for each name that a key stands for.
Checked<Statements> read_operations(const Reader& reader, const std::string& file,
                                    const std::string& text);

// "a > b > c" -> a, b, c.
std::vector<std::string> contexts_of(std::string_view statement);
// True for the statement itself and for everything inside of or after it.
bool is_under(std::string_view statement, std::string_view root);

}  // namespace dlcp::fabric::tree
