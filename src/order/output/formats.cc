#include "order/output/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace dlcp::order {
namespace {

using fabric::Host;
using fabric::OrderFile;

const Host& host_of(const OrderFile& file, int index) {
  return file.fabric.hosts[static_cast<std::size_t>(index)];
}

// These launchers' formats have no quoting.
Status check_names(const OrderFile& file, const char* format, std::string_view forbidden) {
  for (const Host& host : file.fabric.hosts) {
    const std::size_t at = host.name.find_first_of(forbidden);
    if (at == std::string::npos && host.name.front() != '-') continue;
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("host '{}' cannot be used in the format {}", host.name, format),
                 "use host names with letters, digits, '.', '-' and '_' only"};
  }
  return Unit{};
}

constexpr std::string_view kBlank = " \t#=,;[]\"'\\";

template <class Line>
Result<std::string> lines(const OrderFile& file, const char* format, std::string_view forbidden,
                          const Line& line) {
  if (const Status names = check_names(file, format, forbidden); !names) return names.error();
  std::string text;
  for (std::size_t rank = 0; rank < file.order.size(); ++rank)
    text += line(rank, host_of(file, file.order[rank]));
  return text;
}

Result<std::string> hostfile(const OrderFile& file) {
  return lines(
      file, "hostfile", kBlank,
      [](std::size_t, const Host& host) {
        return fmt::format("{} slots={}\n", host.name, host.slots);
      });
}

Result<std::string> machinefile(const OrderFile& file) {
  return lines(
      file, "machinefile", " \t#=,;[]\"'\\:",
      [](std::size_t, const Host& host) { return fmt::format("{}:{}\n", host.name, host.slots); });
}

Result<std::string> rankfile(const OrderFile& file) {
  int next = 0;
  return lines(file, "rankfile", kBlank, [&next](std::size_t, const Host& host) {
    std::string text;
    for (int slot = 0; slot < host.slots; ++slot)
      text += fmt::format("rank {}={} slot={}\n", next++, host.name, slot);
    return text;
  });
}

// One line for each task.
Result<std::string> slurm(const OrderFile& file) {
  return lines(
      file, "Slurm hostfile", kBlank,
      [](std::size_t, const Host& host) {
        std::string text;
        for (int slot = 0; slot < host.slots; ++slot)
          text += host.name + "\n";
        return text;
      });
}

Result<std::string> topology(const OrderFile& file) {
  if (const Status names = check_names(file, "topology.conf", " \t#=,;[]\"'\\:"); !names)
    return names.error();
  const auto& groups = file.fabric.groups;
  std::vector<std::vector<std::string>> nodes(groups.size()), switches(groups.size());
  for (const int host : file.order)
    nodes[static_cast<std::size_t>(file.fabric.group_of[static_cast<std::size_t>(host)])].push_back(
        host_of(file, host).name);
  std::vector<std::string> names;
  for (const fabric::Group& group : groups) {
    std::string name = group.name;
    std::ranges::replace_if(
        name,
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-'; },
        '_');
    names.push_back(name);
  }
  // A switch in Slurm's format has either nodes or switches: hosts next to subgroups get a switch
  // of their own.
  std::string text;
  for (std::size_t g = groups.size(); g-- > 0;) {
    if (!nodes[g].empty() && !switches[g].empty()) {
      text += fmt::format("SwitchName={}-hosts Nodes={}\n", names[g], fmt::join(nodes[g], ","));
      switches[g].push_back(names[g] + "-hosts");
    }
    std::ranges::reverse(switches[g]);
    text += switches[g].empty()
                ? fmt::format("SwitchName={} Nodes={}\n", names[g], fmt::join(nodes[g], ","))
                : fmt::format("SwitchName={} Switches={}\n", names[g], fmt::join(switches[g], ","));
    if (g > 0) switches[static_cast<std::size_t>(groups[g].parent)].push_back(names[g]);
  }
  return text;
}

Result<std::string> torchrun(const OrderFile& file) {
  const std::size_t nodes = file.order.size();
  const Host& master = host_of(file, file.order.front());
  const std::string address = master.addresses.empty() ? master.name : master.addresses.front();
  return lines(file, "torchrun command", kBlank, [&](std::size_t rank, const Host& host) {
    return fmt::format(
        "{}: torchrun --nnodes={} --node-rank={} --nproc-per-node={} --rdzv-backend=static "
        "--master-addr={} --master-port=29500\n",
        host.name, nodes, rank, host.slots, address);
  });
}

Result<std::string> horovod(const OrderFile& file) {
  auto text =
      lines(file, "Horovod list", " \t#=,;[]\"'\\:", [](std::size_t rank, const Host& host) {
        return fmt::format("{}{}:{}", rank == 0 ? "" : ",", host.name, host.slots);
      });
  if (!text) return text;
  return text.value() + "\n";
}

Result<std::string> groups(const OrderFile& file) {
  nlohmann::ordered_json json;
  for (const int index : file.order) {
    const Host& host = host_of(file, index);
    const int group = file.fabric.group_of[static_cast<std::size_t>(index)];
    json[host.addresses.empty() ? host.name : host.addresses.front()] =
        file.fabric.groups[static_cast<std::size_t>(group)].name;
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

constexpr Format kFormats[] = {
    {"hostfile", "Open MPI, DeepSpeed: mpirun --hostfile, deepspeed --hostfile", hostfile},
    {"rankfile", "Open MPI: mpirun --rankfile, with a host for each rank", rankfile},
    {"machinefile", "MPICH, Intel MPI, MVAPICH: mpiexec -f", machinefile},
    {"slurm", "Slurm: SLURM_HOSTFILE=FILE srun --distribution=arbitrary", slurm},
    {"topology", "Slurm: topology.conf with TopologyPlugin=topology/tree", topology},
    {"torchrun", "PyTorch: the command for each host, with static rendezvous", torchrun},
    {"horovod", "Horovod: horovodrun -H", horovod},
    {"groups", "Kubernetes, DLRover: {address: leaf} as JSON", groups}};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace dlcp::order
