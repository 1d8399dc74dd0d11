#include "cli/plugin/nccl_part.h"

#include <dlfcn.h>

#include <cstring>

#include "nccl/abi/profiler/profiler_v4.h"
#include "nccl/abi/profiler/profiler_v5.h"
#include "nccl/abi/profiler/profiler_v6.h"

namespace dlcp::cli {
namespace {

using nccl::ResultCode;

// In NCCL's order: a word's index is its bit.
constexpr const char* kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                      "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* kAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr const char* kProtocols[] = {"LL", "LL128", "SIMPLE"};

template <std::size_t kCount>
std::uint32_t bit_of(const char* const (&words)[kCount], const char* word) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (std::strcmp(words[i], word) == 0) return std::uint32_t{1} << i;
  return ~std::uint32_t{0};
}

// Versions differ in init and in the width of an event's type.
template <int kVersion, class Table, class Event>
class PartOf final : public NcclPart {
 public:
  explicit PartOf(const Table& table) : t_(table) {}

  int version() const override { return kVersion; }
  ResultCode init(std::uint64_t comm_id, int ranks, int rank, nccl::DebugLogger logger) override {
    if constexpr (kVersion >= 5)
      return t_.init(&context_, comm_id, &mask_, "bench", ranks, ranks, rank, logger);
    else
      return t_.init(&context_, &mask_, "bench", comm_id, ranks, ranks, rank, logger);
  }
  ResultCode finalize() override { return t_.finalize(context_); }

  void* start_collective(const CollectiveCall& call) override {
    if (!events_wanted()) return nullptr;
    Event event = of_type(nccl::kProfileColl, nullptr);
    event.coll.func = call.function;
    event.coll.count = call.count;
    event.coll.datatype = call.datatype;
    event.coll.nChannels = call.channels;
    event.coll.algo = call.algorithm;
    event.coll.proto = call.protocol;
    event.coll.sendBuff = call.input;
    return start(event);
  }
  void* start_operation(void* collective, const nccl::ProfiledProxyOp& operation) override {
    if (!events_wanted()) return nullptr;
    Event event = of_type(nccl::kProfileProxyOp, collective);
    event.proxyOp = operation;
    return start(event);
  }
  void* start_step(void* operation, int step) override {
    if (!events_wanted()) return nullptr;
    Event event = of_type(nccl::kProfileProxyStep, operation);
    event.proxyStep.step = step;
    return start(event);
  }
  void* start_kernel(void* collective, std::uint8_t channel) override {
    if (!events_wanted()) return nullptr;
    Event event = of_type(nccl::kProfileKernelCh, collective);
    event.kernelCh.channelId = channel;
    return start(event);
  }
  void record_state(void* event, int state) override {
    if (event != nullptr) t_.recordEventState(event, state, nullptr);
  }
  void stop(void* event) override {
    if (event != nullptr) t_.stopEvent(event);
  }
  void start_net_event(void* step, std::int64_t id, void* data) override {
    if (!events_wanted()) return;
    Event event = of_type(nccl::kProfileNetPlugin, step);
    event.netPlugin = {id, data};
    start(event);
  }

 private:
  static Event of_type(std::uint64_t type, void* parent) {
    Event event{};
    event.type = static_cast<decltype(event.type)>(type);
    event.parentObj = parent;
    return event;
  }
  void* start(Event& event) {
    void* handle = nullptr;
    t_.startEvent(context_, &handle, &event);
    return handle;
  }

  const Table& t_;
  void* context_ = nullptr;
};

template <int kVersion, class Table, class Event>
std::unique_ptr<NcclPart> part_of(void* library, const char* symbol, int wanted) {
  const auto* table = static_cast<const Table*>(dlsym(library, symbol));
  if (table == nullptr || (wanted != 0 && wanted != kVersion)) return nullptr;
  return std::make_unique<PartOf<kVersion, Table, Event>>(*table);
}

}  // namespace

AttributeBits bits_of(const CollectiveCall& call) {
  return {bit_of(kFunctions, call.function), bit_of(kAlgorithms, call.algorithm),
          bit_of(kProtocols, call.protocol)};
}

std::unique_ptr<NcclPart> NcclPart::open(void* library, int version) {
  using namespace nccl;
  auto part = part_of<6, ProfilerV6, ProfilerEventV6>(library, kProfilerSymbolV6, version);
  if (!part) part = part_of<5, ProfilerV5, ProfilerEventV5>(library, kProfilerSymbolV5, version);
  if (!part) part = part_of<4, ProfilerV4, ProfilerEventV4>(library, kProfilerSymbolV4, version);
  return part;
}

ResultCode NcclPart::callback(void** event, int type, void* phandle, std::int64_t id, void* data) {
  if (type == nccl::kProfilerNetEventStart) {
    *event = nullptr;
    const auto& step = *static_cast<ProxyOperation::StepHandle*>(phandle);
    if (step.operation != nullptr) step.operation->part_.start_net_event(step.event, id, data);
  }
  return ResultCode::kSuccess;
}

ProxyOperation::ProxyOperation(NcclPart& part, void* collective, int steps, bool sends,
                               int chunk_bytes, pid_t pid)
    : part_(part),
      event_(part.start_operation(collective, {.pid = pid,
                                               .channelId = 0,
                                               .peer = 0,
                                               .nSteps = steps,
                                               .chunkSize = chunk_bytes,
                                               .isSend = sends ? 1 : 0})) {}

ProxyOperation::~ProxyOperation() {
  part_.stop(event_);
}

void* ProxyOperation::phandle(int step) {
  slot(step) = {part_.start_step(event_, step), this};
  return &slot(step);
}

void ProxyOperation::receive_posted(int step) {
  part_.record_state(slot(step).event, nccl::kStepReceiveWait);
}

void ProxyOperation::finished(int step, bool receive) {
  StepHandle& handle = slot(step);
  if (receive) part_.record_state(handle.event, nccl::kStepReceiveGpuWait);
  part_.stop(handle.event);
  handle.event = nullptr;
}

}  // namespace dlcp::cli
