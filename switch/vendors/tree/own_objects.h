// DLCP's objects in a configuration whose statements are rows of their own (Target::leaf_rows):
// what of them a change has to take away, because it writes them without it or nothing refers to
// them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "switch/vendors/tree/rows.h"

namespace dlcp::fabric::tree {

class OwnObjects {
 public:
  // The running statements outlive this.
  OwnObjects(const Target& target, const Statements& running)
      : target_(target), running_(running) {}

  // Statements of objects that the patch writes, which it does not have any more.
  void complete(Patch& patch, std::set<std::string>& touched) const;
  // Objects that the patch's ports have and are not to have any more.
  void unbind(Patch& patch, const std::vector<std::string>& ports,
              std::set<std::string>& touched) const;
  // Objects that nothing refers to; the roots of those that something outside of the plan does are
  // put into `kept`.
  Patch stale(const std::vector<Patch>& patches, const std::set<std::string>& touched,
              std::set<std::string>& kept) const;

 private:
  std::string root_of(const std::string& statement) const;  // empty: of no object of DLCP's
  // The root that a port's binding refers to; empty: it is no binding to one of DLCP's.
  std::string referred(const std::string& statement) const;
  bool is_own_binding(const std::string& statement, std::string& port) const;

  const Target& target_;
  const Statements& running_;
};

// All but the last word of a statement, and that.
std::string leaf_path(const std::string& statement);
std::string leaf_value(const std::string& statement);

}  // namespace dlcp::fabric::tree
