#include "nccl/collnet/collnet.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "collective/reduce/element.h"
#include "nccl/collnet/group_comm.h"
#include "nccl/profiler/profiler.h"

namespace dlcp::nccl::collnet {
namespace {

constexpr unsigned kTopicLengths = 31;  // a topic of Context::first_to_say
constexpr unsigned kTopicExact = 30;

GroupRequest& free_request(GroupComm& comm) {
  const auto found = std::ranges::find_if(comm.requests, &GroupRequest::free);
  GroupRequest& request = found != comm.requests.end() ? *found : comm.requests.emplace_back();
  request.free = false;
  request.group = &comm;
  return request;
}

// The part of NCCL's present call that is data. If NCCL does not report it, it is the whole call,
// without the number of an all-reduce. The profiler is asked once per call, however often NCCL
// repeats the call.
CallPart part_of(GroupComm& comm, std::size_t bytes, int type) {
  if (!comm.part) {
    Unmatched unmatched = Unmatched::kNot;
    const auto told = profiler::next_call(comm.context->comm_id(), bytes, type, unmatched);
    if (unmatched != Unmatched::kNot && comm.context->first_to_say(kTopicLengths)) {
      say({engine::LogLevel::kWarn,
           fmt::format("direct exchange: whole buffers are exchanged, because {}",
                       words_for(unmatched))});
    }
    if (!told && comm.loss_ppm > 0 && comm.context->first_to_say(kTopicExact)) {
      const char* const why =
          unmatched != Unmatched::kNot
              ? words_for(unmatched)
              : "NCCL does not report tensor lengths (NCCL 2.28 or newer does, if no other "
                "profiler is loaded and no communicator uses the connections of its parent, "
                "splitShare)";
      say({engine::LogLevel::kInfo,
           fmt::format("direct exchange is exact despite its loss budget: {}", why)});
      comm.context->describe(comm.loss_ppm, why);
    }
    comm.part = told.value_or(CallPart{bytes, 0});
  }
  return *comm.part;
}

void tell_of_switch(GroupComm& comm) {
  if (const std::string news = comm.by_switch->take_change(); !news.empty()) {
    say({engine::LogLevel::kWarn,
         fmt::format("sums do not use the switch {}, but direct exchange: {}",
                     comm.by_switch->switch_name(), news)});
    comm.context->describe_all_reduce("direct exchange instead of the switch: " + news,
                                      comm.group->blocks());
  }
}

Result<std::optional<std::uint64_t>> start_call(GroupComm& comm, const collective::Call& call) {
  if (comm.by_switch == nullptr) return comm.group->start(call);
  auto started = comm.by_switch->start(call);
  tell_of_switch(comm);
  return started;
}

Result<bool> finished_call(GroupComm& comm, std::uint64_t call) {
  if (comm.by_switch == nullptr) return comm.group->finished(call);
  auto finished = comm.by_switch->finished(call);
  tell_of_switch(comm);
  return finished;
}

// Like guarded(). An exception ends the group: the other ranks would wait without limit for this
// one, whose helper threads still answer them.
template <class Function>
ResultCode guarded_in(GroupComm& comm, const char* name, Function&& function) noexcept {
  return guarded(
      name,
      [&] {
        try {
          return std::forward<Function>(function)();
        } catch (...) {
          comm.group->fail(
              {ErrorCode::kInternal, "an all-reduce ended with an internal error", ""});
          throw;
        }
      });
}

}  // namespace

ResultCode reduce_support(int type, int op, int* supported) noexcept {
  return guarded(
      "reduceSupport",
      [&] {
        *supported = collective::can_reduce(type, op) ? 1 : 0;
        return ResultCode::kSuccess;
      });
}

ResultCode register_memory(void* group, void* data, std::size_t bytes, int type,
                           void** registration) noexcept {
  return guarded(
      "regMr",
      [&] {
        *registration = nullptr;
        if (group == nullptr || type != kPtrHost)
          return refuse({ErrorCode::kInvalidUsage,
                         fmt::format("regMr of memory of type {}: only host memory (type {}) is "
                                     "supported",
                                     type, kPtrHost),
                         "NCCL copies GPU memory through its host buffers"});
        auto made =
            std::make_unique<Registration>(Registration{static_cast<std::byte*>(data), bytes});
        static_cast<GroupComm*>(group)->group->register_memory({made->data, made->bytes, nullptr});
        *registration = made.release();
        return ResultCode::kSuccess;
      });
}

ResultCode deregister_memory(void* group, void* opaque) noexcept {
  return guarded(
      "deregMr",
      [&] {
        const std::unique_ptr<Registration> registration(static_cast<Registration*>(opaque));
        if (registration != nullptr && group != nullptr) {
          auto& comm = *static_cast<GroupComm*>(group);
          const engine::Memory memory{registration->data, registration->bytes, nullptr};
          if (comm.by_switch != nullptr) comm.by_switch->release_memory(memory);
          comm.group->release_memory(memory);
        }
        return ResultCode::kSuccess;
      });
}

ResultCode all_reduce(void* opaque, void* input, void* result, std::size_t count, int type, int op,
                      void*, void*, void** request) noexcept {
  auto& comm = *static_cast<GroupComm*>(opaque);
  return guarded_in(comm, "iallreduce", [&] {
    *request = nullptr;
    if (!collective::can_reduce(type, op) || count == 0)
      return refuse({ErrorCode::kInvalidUsage,
                     fmt::format("iallreduce of {} elements of type {} with operation {} is not "
                                 "supported",
                                 count, type, op),
                     "reduceSupport reports the supported types and operations"});
    const auto data_type = static_cast<collective::DataType>(type);
    const std::size_t bytes = count * collective::bytes_of(data_type);
    const CallPart part = part_of(comm, bytes, type);
    const collective::Call call{.input = {static_cast<std::byte*>(input), bytes},
                                .result = {static_cast<std::byte*>(result), bytes},
                                .real_bytes = part.bytes,
                                .type = data_type,
                                .op = static_cast<collective::ReduceOp>(op),
                                .tensor = part.reduction};
    const auto started = start_call(comm, call);
    if (!started) {
      comm.group->take_unlogged_failure();  // it is logged here
      return refuse(started.error());
    }
    if (started.value()) {
      GroupRequest& made = free_request(comm);
      made.call = *started.value();
      made.bytes = bytes;
      ++comm.calls;
      comm.bytes += bytes;
      comm.data += part.bytes;
      comm.part.reset();
      *request = &made;
    }
    return ResultCode::kSuccess;
  });
}

ResultCode flush(void*, void*, int, void*, void** request) noexcept {
  return guarded(
      "iflush",
      [&] {
        *request = nullptr;  // nothing to wait for: host memory only
        return ResultCode::kSuccess;
      });
}

ResultCode test(void* opaque, int* done, int* bytes) noexcept {
  *done = 0;
  if (opaque == nullptr) return ResultCode::kInvalidArgument;
  auto& request = *static_cast<GroupRequest*>(opaque);
  return guarded_in(*request.group, "test", [&] {
    const auto finished = finished_call(*request.group, request.call);
    if (!finished) {
      if (const auto why = request.group->group->take_unlogged_failure()) refuse(*why);
      return code_of(finished.error().code);
    }
    if (finished.value()) {
      *done = 1;
      if (bytes != nullptr) *bytes = static_cast<int>(request.bytes);
      request.free = true;
    }
    return ResultCode::kSuccess;
  });
}

}  // namespace dlcp::nccl::collnet
