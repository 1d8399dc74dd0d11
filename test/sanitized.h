// Whether this is a sanitizer's build. It looks at memory, not at luck, and takes 10 to 25 times as
// long: tests that repeat one story, or make it large, do less of it there. The release suite does
// all.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DLCP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DLCP_SANITIZED 1
#endif
#endif
#ifndef DLCP_SANITIZED
#define DLCP_SANITIZED 0
#endif

namespace dlcp::test {

constexpr bool kSanitized = DLCP_SANITIZED != 0;

}  // namespace dlcp::test
