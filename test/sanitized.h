// Whether this is a sanitizer's build. It is 10 to 25 times slower and checks memory accesses,
// which need no large samples: tests that repeat or enlarge a case do so less there. The release
// suite does all.
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
