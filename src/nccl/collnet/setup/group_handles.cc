#include "nccl/collnet/setup/group_handles.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <utility>

namespace dlcp::nccl {
namespace {

Error of_rank(std::size_t rank, const Error& error) {
  return {error.code, fmt::format("rank {} of the group: {}", rank, error.what), error.hint};
}

}  // namespace

Result<std::vector<Handle>> read_handles(void* handles[], std::size_t ranks) {
  std::vector<Handle> read;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    auto handle = decode_handle(std::span<const std::byte, kHandleBytes>(
        static_cast<const std::byte*>(handles[rank]), kHandleBytes));
    if (!handle) return of_rank(rank, handle.error());
    read.push_back(std::move(handle).value());
  }
  return read;
}

Status check_all_alike(const std::vector<Handle>& handles) {
  for (std::size_t rank = 1; rank < handles.size(); ++rank) {
    if (auto alike = check_terms(handles[0].terms, handles[rank].terms); !alike)
      return of_rank(rank, alike.error());
    if (auto alike = check_secret(handles[0].secret_fingerprint, handles[rank].secret_fingerprint);
        !alike)
      return of_rank(rank, alike.error());
  }
  return Unit{};
}

}  // namespace dlcp::nccl
