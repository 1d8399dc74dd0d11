#include "datapath/verbs/device/memory_regions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "util/memory/overlap.h"
#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

// Memory of a GPU may also be read by a flush (placement/gpu/flush_queue.h), and the card itself
// writes to it (placement/gpu/gpu_writes.h).
constexpr int kGpu = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING;
constexpr int kBindable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING;

constexpr std::size_t kPastGpuMax = 256;  // ranges

constexpr const char* kWithoutGpu =
    "or set NCCL_NET_GDR_LEVEL=LOC, so that NCCL copies through host memory";

Error gpu_error(const VerbsCard& card, bool is_dma_buf, int code) {
  Error error = verbs_error(
      is_dma_buf ? "register GPU memory as dma-buf" : "register GPU memory by its address",
      card.port, code);
  const bool cannot = code == EOPNOTSUPP || code == EPROTONOSUPPORT;
  if (is_dma_buf && cannot)
    error.hint =
        fmt::format("the card's driver has no dma-buf: load nvidia-peermem, {}", kWithoutGpu);
  else if (!is_dma_buf && (code == EFAULT || cannot))
    error.hint = fmt::format("load the kernel module nvidia-peermem, {}", kWithoutGpu);
  else
    error.hint = fmt::format("see the kernel's log, {}", kWithoutGpu);
  return error;
}

}  // namespace

MrPtr MemoryRegions::register_with(const Region& region, std::span<std::byte> memory,
                                   std::uint64_t offset, int access) {
  Verbs& verbs = *card_.verbs;
  ibv_mr* const mr = region.kind == Kind::kDmaBuf
                         ? verbs.reg_dmabuf_mr(card_.pd.get(), offset, memory.size(),
                                               reinterpret_cast<std::uintptr_t>(memory.data()),
                                               region.dma_buf.get(), access)
                         : verbs.reg_mr(card_.pd.get(), memory.data(), memory.size(), access);
  return {mr, {&verbs}};
}

// nullptr if the range is registered as memory of another kind.
MemoryRegions::Region* MemoryRegions::find_or_make(std::span<std::byte> memory, Kind kind) {
  Region& region = regions_[range_of(memory)];
  if (region.users == 0) region.kind = kind;
  return region.kind == kind ? &region : nullptr;
}

// Counts a user of the region and registers it if it is not registered. Without windows read access
// is enough: received data is copied into the memory, or the card writes it by a registration for
// this purpose (placement/permissions/region_permissions.h). Drivers refuse windows in dma-bufs.
Status MemoryRegions::use(std::span<std::byte> memory, Region& region) {
  ++region.users;
  if (region.mr != nullptr) return Unit{};
  const int access = region.kind == Kind::kHost ? 0 : kGpu;
  region.is_bindable = bindable_ && region.kind != Kind::kDmaBuf;
  if (region.is_bindable)
    region.mr = register_with(region, memory, region.offset, access | kBindable);
  if (region.mr == nullptr) {
    region.is_bindable = false;
    region.mr = register_with(region, memory, region.offset, access);
  }
  if (region.mr == nullptr) {
    const int code = errno;
    if (region.kind == Kind::kHost) return verbs_error("register memory", card_.port, code);
    const bool is_dma_buf = region.kind == Kind::kDmaBuf;
    regions_.erase(range_of(memory));
    return gpu_error(card_, is_dma_buf, code);
  }
  longest_ = std::max<std::uintptr_t>(longest_, memory.size());
  gpu_regions_ += region.kind == Kind::kHost ? 0 : 1;
  return Unit{};
}

Status MemoryRegions::add(std::span<std::byte> memory) {
  if (memory.empty()) return Unit{};
  forget_past_gpu(memory);
  Region* const region = find_or_make(memory, Kind::kHost);
  if (region == nullptr) {
    ++regions_[range_of(memory)].users;  // as for every failed add()
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} bytes at {} are registered as GPU memory already", memory.size(),
                             static_cast<const void*>(memory.data())),
                 "deregister memory before it is freed"};
  }
  return use(memory, *region);
}

Status MemoryRegions::add(const GpuMemory& memory) {
  if (memory.bytes.empty()) return Unit{};
  forget_past_gpu(memory.bytes);
  const bool is_dma_buf = memory.dma_buf >= 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.bytes.data());
  if (const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
      is_dma_buf && begin % page != memory.offset % page) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("GPU memory at {:#x} cannot be registered: its offset in the dma-buf "
                             "is {:#x}, which has another place in a page of {} bytes",
                             begin, memory.offset, page),
                 "export whole pages"};
  }
  Region* const region = find_or_make(memory.bytes, is_dma_buf ? Kind::kDmaBuf : Kind::kPeerMemory);
  if (region == nullptr) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("{} bytes at {:#x} are registered as memory of another kind already",
                             memory.bytes.size(), begin),
                 "deregister memory before it is freed"};
  }
  if (region->users == 0 && is_dma_buf) {
    region->dma_buf = Fd(::fcntl(memory.dma_buf, F_DUPFD_CLOEXEC, 0));
    region->offset = memory.offset;
    if (!region->dma_buf.valid()) {
      const int code = errno;
      regions_.erase(range_of(memory.bytes));
      return Error{ErrorCode::kSystem,
                   fmt::format("cannot duplicate descriptor {} of GPU memory: {}", memory.dma_buf,
                               system_text(code)),
                   "allow the process more open files (`ulimit -n`)"};
    }
  }
  return use(memory.bytes, *region);
}

MrPtr MemoryRegions::register_piece(std::span<std::byte> piece, int access) {
  const auto found = find(range_of(piece));
  if (found == regions_.end()) return {nullptr, {card_.verbs.get()}};
  const std::uint64_t from_begin = range_of(piece).first - found->first.first;
  return register_with(found->second, piece, found->second.offset + from_begin, access);
}

void MemoryRegions::release(std::span<std::byte> memory) {
  const auto found = regions_.find(range_of(memory));
  if (found != regions_.end() && --found->second.users == 0) {
    if (found->second.kind != Kind::kHost) {
      --gpu_regions_;
      if (past_gpu_.size() == kPastGpuMax) past_gpu_.erase(past_gpu_.begin());
      past_gpu_.push_back(memory);
    }
    regions_.erase(found);
    last_ = {};
  }
}

void MemoryRegions::forget_past_gpu(std::span<const std::byte> memory) {
  std::erase_if(
      past_gpu_, [&](const auto past) { return overlap(past, memory); });
}

bool MemoryRegions::was_on_gpu(std::span<const std::byte> piece) const {
  return std::ranges::any_of(
      past_gpu_, [&](const auto past) { return overlap(past, piece); });
}

// Searches backwards from the last region that begins at or before the piece; few regions overlap.
MemoryRegions::Regions::const_iterator MemoryRegions::find(Range piece) const {
  const auto [begin, end] = piece;
  auto at = regions_.upper_bound({begin, UINTPTR_MAX});
  while (at != regions_.begin()) {
    --at;
    if (begin - at->first.first > longest_) break;
    if (end <= at->first.second && at->second.mr != nullptr) return at;
  }
  return regions_.end();
}

std::optional<std::uint32_t> MemoryRegions::look_up(Range piece) {
  const auto found = find(piece);
  if (found == regions_.end()) return std::nullopt;
  last_ = found->first;
  last_key_ = found->second.mr->lkey;
  return last_key_;
}

ibv_mr* MemoryRegions::gpu_region_of(std::span<const std::byte> piece) {
  const auto found = find(range_of(piece));
  return found != regions_.end() && found->second.kind != Kind::kHost ? found->second.mr.get()
                                                                      : nullptr;
}

ibv_mr* MemoryRegions::bindable_region_of(std::span<const std::byte> piece) {
  const auto found = find(range_of(piece));
  return found != regions_.end() && found->second.is_bindable ? found->second.mr.get() : nullptr;
}

}  // namespace dlcp::datapath
