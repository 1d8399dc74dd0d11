// fmt's own definitions, compiled once here. The plugin must be self-contained, so the shared
// libfmt cannot be used, and fmt's header-only mode would compile all of this in every file (two
// thirds of the build time). Which templates fmt leaves to its library differs between versions;
// this list is complete for 9 to 12, and a test links it against each of them.
#include <fmt/format-inl.h>

namespace fmt::detail {

template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);

#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void vformat_to<char>(buffer<char>&, string_view, vformat_args<char>::type, locale_ref);
#endif

}  // namespace fmt::detail
