// The reference TCP plugin with one fault, chosen by MISBEHAVE, to test whether `dlcp bench`
// detects it. flip: a byte changes; swap: two blocks of 1 KiB are exchanged; swap_messages: two
// messages are exchanged; hang: requests no longer complete; overrun: a byte is written behind the
// receive buffer; late: a byte is written to a receive buffer after its data was used;
// unanswered: no connection opens. Also crash and refuse.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nccl/abi/net/net_v11.h"

using namespace dlcp::nccl;

extern "C" __attribute__((visibility("default"))) NetV11 ncclNetPlugin_v11;

namespace {

const NetV11* g_real = nullptr;
std::string g_fault;
int g_sends = 0;
int g_tests = 0;
std::map<void*, unsigned char*> g_receiving;  // by request
std::vector<unsigned char*> g_received;
constexpr int kFrom = 20;  // the first messages are not changed

ResultCode isend(void* comm, void* data, std::size_t size, int tag, void* mhandle, void* phandle,
                 void** request) {
  auto* bytes = static_cast<unsigned char*>(data);
  g_sends++;
  if (g_sends == kFrom && g_fault == "flip" && size > 0) bytes[size / 2] ^= 0x10;
  if (g_sends == kFrom && g_fault == "swap" && size >= 4096)
    std::swap_ranges(bytes, bytes + 1024, bytes + 2048);
  if (g_sends == kFrom && g_fault == "crash") std::abort();
  if (g_sends == kFrom && g_fault == "refuse") return ResultCode::kSystemError;
  return g_real->isend(comm, data, size, tag, mhandle, phandle, request);
}

ResultCode irecv(void* comm, int n, void** data, std::size_t* sizes, int* tags, void** mhandles,
                 void** phandles, void** request) {
  if (g_fault == "overrun") static_cast<unsigned char*>(data[0])[sizes[0]] ^= 1;
  const ResultCode result = g_real->irecv(comm, n, data, sizes, tags, mhandles, phandles, request);
  if (*request != nullptr) g_receiving[*request] = static_cast<unsigned char*>(data[0]);
  return result;
}

// At most four buffers of a ring are posted or in use, so the data of the fifth last was used.
void end_receive(void* request) {
  const auto found = g_receiving.find(request);
  if (found == g_receiving.end()) return;
  g_received.push_back(found->second);
  g_receiving.erase(found);
  if (g_fault == "late" && g_received.size() == kFrom) g_received[kFrom - 5][1000] ^= 1;
}

ResultCode test(void* request, int* done, int* sizes) {
  if (g_fault == "hang" && ++g_tests > 200) {
    *done = 0;
    return ResultCode::kSuccess;
  }
  const ResultCode result = g_real->test(request, done, sizes);
  if (*done != 0) end_receive(request);
  return result;
}

ResultCode connect(void* ctx, int device, void* handle, void** comm, NetDeviceHandle** at) {
  *comm = nullptr;
  return g_fault == "unanswered" ? ResultCode::kSuccess
                                 : g_real->connect(ctx, device, handle, comm, at);
}

ResultCode init(void** ctx, std::uint64_t id, NetCommConfigV11* config, DebugLogger logger,
                ProfilerCallback profiler) {
  void* library = dlopen(REFERENCE_TCP, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return ResultCode::kSystemError;
  g_real = static_cast<const NetV11*>(dlsym(library, "ncclNetPlugin_v11"));
  if (const char* fault = std::getenv("MISBEHAVE")) g_fault = fault;
  ncclNetPlugin_v11 = *g_real;
  ncclNetPlugin_v11.name = "MISBEHAVING";
  ncclNetPlugin_v11.init = init;
  ncclNetPlugin_v11.connect = connect;
  ncclNetPlugin_v11.isend = isend;
  ncclNetPlugin_v11.irecv = irecv;
  ncclNetPlugin_v11.test = test;
  return g_real->init(ctx, id, config, logger, profiler);
}

}  // namespace

NetV11 ncclNetPlugin_v11 = {
    "MISBEHAVING", init,    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
    nullptr,       nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
    nullptr,       nullptr, nullptr, nullptr, nullptr, nullptr,
};
