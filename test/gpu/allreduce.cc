// A real NCCL all-reduce of several processes on one GPU: the parent starts one process per rank,
// each with its own host identity, so that NCCL assumes several hosts and uses the network. Every
// element of every result is compared with the exact sum.
//
//   nccl_allreduce [RANKS [MIB [ROUNDS]]]       (2 ranks, 16 MiB, 20 rounds)
//
// The environment chooses the network (NCCL_NET_PLUGIN, NCCL_NET). Prints one JSON object.
// Exit: 0 all correct, 1 wrong elements, 3 CUDA or NCCL failed, 77 no GPU here.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kExitWrong = 1;
constexpr int kExitFailed = 3;
constexpr int kExitNoGpu = 77;
constexpr int kWarmUpRounds = 3;
constexpr std::chrono::seconds kIdPatience{30};

struct Job {
  int ranks = 2;
  std::size_t elements = (std::size_t{16} << 20) / sizeof(float);
  int rounds = 20;
  std::string id_file;
};

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "nccl_allreduce: {}\n", what);
  std::_Exit(kExitFailed);
}

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) fail(fmt::format("{}: {}", call, cudaGetErrorString(status)));
}

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess)
    fail(fmt::format("{}: {} {}", call, ncclGetErrorString(status), ncclGetLastError(nullptr)));
}

// Whole numbers below 2^24, so that sums are exact in any order.
float value_of(int rank, std::size_t element, int round) {
  const std::size_t mixed = element * 2654435761u + static_cast<std::size_t>(rank * 7919 + round);
  return static_cast<float>(mixed % 65521);
}

// Rank 0 writes the id to a file that appears atomically; the other ranks wait for it.
ncclUniqueId exchange_id(const Job& job, int rank) {
  ncclUniqueId id{};
  if (rank == 0) {
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    const std::string draft = job.id_file + ".new";
    std::FILE* file = std::fopen(draft.c_str(), "wb");
    if (file == nullptr || std::fwrite(&id, sizeof id, 1, file) != 1 || std::fclose(file) != 0)
      fail("cannot write " + draft);
    std::filesystem::rename(draft, job.id_file);
    return id;
  }
  const auto deadline = std::chrono::steady_clock::now() + kIdPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (std::FILE* file = std::fopen(job.id_file.c_str(), "rb")) {
      const bool whole = std::fread(&id, sizeof id, 1, file) == 1;
      std::fclose(file);
      if (whole) return id;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  fail("rank 0 has written no NCCL id");
}

class Rank {
 public:
  Rank(const Job& job, int rank) : job_(job), rank_(rank), host_(job.elements) {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
    check(ncclCommInitRank(&comm_, job.ranks, exchange_id(job, rank), rank), "ncclCommInitRank");
  }
  ~Rank() {
    ncclCommDestroy(comm_);
    cudaFree(data_);
    cudaStreamDestroy(stream_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  // The seconds that one all-reduce took; adds the wrong elements to `wrong`.
  double round(int number, std::size_t& wrong) {
    for (std::size_t i = 0; i < host_.size(); ++i)
      host_[i] = value_of(rank_, i, number);
    check(cudaMemcpy(data_, host_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    const auto begin = std::chrono::steady_clock::now();
    check(ncclAllReduce(data_, data_, job_.elements, ncclFloat, ncclSum, comm_, stream_),
          "ncclAllReduce");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    check(cudaMemcpy(host_.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t i = 0; i < host_.size(); ++i) {
      float sum = 0;
      for (int rank = 0; rank < job_.ranks; ++rank)
        sum += value_of(rank, i, number);
      wrong += host_[i] != sum;
    }
    return took.count();
  }

 private:
  std::size_t bytes() const { return job_.elements * sizeof(float); }

  Job job_;
  int rank_;
  std::vector<float> host_;
  cudaStream_t stream_ = nullptr;
  float* data_ = nullptr;
  ncclComm_t comm_ = nullptr;
};

int run_rank(const Job& job, int rank) {
  setenv("NCCL_HOSTID", fmt::format("host-{}", rank).c_str(), 1);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    if (rank == 0) fmt::print(stderr, "nccl_allreduce: no GPU here\n");
    return kExitNoGpu;
  }
  std::size_t wrong = 0;
  std::vector<double> times;
  {
    Rank self(job, rank);
    for (int number = 0; number < kWarmUpRounds + job.rounds; ++number) {
      const double seconds = self.round(number, wrong);
      if (number >= kWarmUpRounds) times.push_back(seconds);
    }
  }
  if (rank == 0) {
    std::sort(times.begin(), times.end());
    const double p50 = times[times.size() / 2];
    const double bytes = static_cast<double>(job.elements * sizeof(float));
    const double bus = 2.0 * (job.ranks - 1) / job.ranks * bytes * 8e-9 / p50;
    fmt::print(
        "{{\"ranks\": {}, \"size\": {}, \"bus_gbps\": {:.3f}, \"p50_us\": {:.1f}, \"max_us\": "
        "{:.1f}, \"elements_wrong\": {}}}\n",
        job.ranks, job.elements * sizeof(float), bus, p50 * 1e6, times.back() * 1e6, wrong);
  }
  return wrong == 0 ? 0 : kExitWrong;
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (argc > 1) job.ranks = std::clamp(std::atoi(argv[1]), 2, 64);
  if (argc > 2) {
    const auto mib = static_cast<std::size_t>(std::clamp(std::atoi(argv[2]), 1, 4096));
    job.elements = (mib << 20) / sizeof(float);
  }
  if (argc > 3) job.rounds = std::clamp(std::atoi(argv[3]), 1, 100000);
  std::string folder = (std::filesystem::temp_directory_path() / "nccl-allreduce-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) fail("no temporary folder");
  job.id_file = folder + "/id";

  std::vector<pid_t> children;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const pid_t child = fork();  // before CUDA is used, because it does not survive a fork
    if (child == 0) {
      const int code = run_rank(job, rank);
      std::fflush(nullptr);
      std::_Exit(code);
    }
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed;
    worst = std::max(worst, code);
  }
  std::filesystem::remove_all(folder);
  return worst;
}
