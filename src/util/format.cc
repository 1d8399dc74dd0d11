// fmt's own definitions, compiled once here. The plugin has to be self-contained, so the shared
// libfmt will not do, and fmt's header-only mode would compile all of this again in every file (it
// made two thirds of the build's time).
#include <fmt/format-inl.h>

namespace fmt::detail {

template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);

}  // namespace fmt::detail
