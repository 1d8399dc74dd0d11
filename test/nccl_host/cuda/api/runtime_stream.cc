// The part of the runtime that concerns streams, events and launches.
#include <cuda_runtime_api.h>

#include <cstring>

#include "cuda/error.h"
#include "cuda/kernel.h"
#include "cuda/stream.h"

using namespace softcuda;

namespace {

Event& event_of(cudaEvent_t handle) {
  return *reinterpret_cast<Event*>(handle);
}

}  // namespace

SOFTCUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const bool blocks_default = (flags & cudaStreamNonBlocking) == 0;
  *stream = reinterpret_cast<cudaStream_t>(open_stream(blocks_default));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
SOFTCUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
SOFTCUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  close_stream(&stream_of(stream));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream_of(stream).wait_until_idle();
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream_of(stream).is_idle() ? cudaSuccess : cudaErrorNotReady;
}
SOFTCUDA_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(&stream_of(stream));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  *device = stream_of(stream).device();
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (auto mark = event_of(event).mark()) stream_of(stream).push([mark] { mark->wait(); });
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                            void* argument) {
  stream_of(stream).push([=] { function(argument); });
  return cudaSuccess;
}

// No stream is ever captured into a graph.
SOFTCUDA_API cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
#undef cudaStreamGetCaptureInfo
SOFTCUDA_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status,
                                                  unsigned long long* id, cudaGraph_t* graph,
                                                  const cudaGraphNode_t** nodes,
                                                  const cudaGraphEdgeData** edges,
                                                  std::size_t* count) {
  *status = cudaStreamCaptureStatusNone;
  if (id != nullptr) *id = 0;
  if (graph != nullptr) *graph = nullptr;
  if (nodes != nullptr) *nodes = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
SOFTCUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &event_of(event);
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  auto mark = std::make_shared<Mark>();
  event_of(event).set_mark(mark);
  stream_of(stream).push([mark] { mark->pass(); });
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto mark = event_of(event).mark();
  return !mark || mark->is_passed() ? cudaSuccess : cudaErrorNotReady;
}
SOFTCUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto mark = event_of(event).mark()) mark->wait();
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from,
                                              cudaEvent_t to) {
  const auto first = event_of(from).mark();
  const auto second = event_of(to).mark();
  if (!first || !second) return failed(cudaErrorInvalidResourceHandle);
  if (!first->is_passed() || !second->is_passed()) return cudaErrorNotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(second->passed_at() - first->passed_at()).count();
  return cudaSuccess;
}

SOFTCUDA_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 640;
  attributes->binaryVersion = 90;
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  *function = static_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}
SOFTCUDA_API cudaError_t cudaLaunchKernel(const void* symbol, dim3, dim3, void** parameters,
                                          std::size_t, cudaStream_t stream) {
  return launch({symbol, parameters, nullptr, 0, nullptr}, stream);
}
SOFTCUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration,
                                             const void* symbol, void** parameters) {
  return launch({symbol, parameters, nullptr, 0, nullptr}, configuration->stream);
}
