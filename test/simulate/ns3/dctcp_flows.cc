// Copyright The DLCP authors. SPDX-License-Identifier: MIT
//
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
// associated documentation files (the "Software"), to deal in the Software without restriction,
// including without limitation the rights to use, copy, modify, merge, publish, distribute,
// sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions: The above copyright notice and this
// permission notice shall be included in all copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
// NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
// DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
//
// The time that ns-3's DCTCP takes for a list of flows through one switch. This is a separate
// program: only ns3_test.py builds it, from ns-3's headers and libraries, and it is neither linked
// nor shipped with any part of DLCP.
//
// dctcp_flows HOSTS GBIT_PER_S DELAY_NS MARK_BYTES < flows
// A flow is a line "FROM TO BYTES START_NS"; its connection is open before. Prints the nanoseconds
// of each flow from its start until the last byte has arrived.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

namespace {

constexpr double kBegin = 0.1;  // seconds: connections are open by then
constexpr std::uint32_t kSegment = 4086;
constexpr std::uint8_t kAnswerTos = 0x10;  // "low delay": the first band
constexpr std::uint16_t kFirstPort = 1000;

struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
  std::int64_t start_ns = 0;

  ns3::Ptr<ns3::Socket> sender;
  std::uint64_t unsent = 0;
  std::uint64_t arrived = 0;
  std::int64_t took_ns = -1;

  void send(ns3::Ptr<ns3::Socket> socket, std::uint32_t) {
    while (unsent > 0 && socket->GetTxAvailable() > 0) {
      const auto piece = static_cast<std::uint32_t>(
          std::min<std::uint64_t>({unsent, socket->GetTxAvailable(), kSegment}));
      const int sent = socket->Send(ns3::Create<ns3::Packet>(piece));
      if (sent <= 0) return;
      unsent -= static_cast<std::uint64_t>(sent);
    }
  }
  void begin() {
    unsent = bytes;
    send(sender, 0);
  }
  void receive(ns3::Ptr<ns3::Socket> socket) {
    while (const auto packet = socket->Recv())
      arrived += packet->GetSize();
    if (arrived >= bytes && took_ns < 0)
      took_ns = (ns3::Simulator::Now() - ns3::Seconds(kBegin)).GetNanoSeconds() - start_ns;
  }
};

void use_dctcp() {
  using ns3::Config::SetDefault;
  SetDefault("ns3::TcpL4Protocol::SocketType", ns3::TypeIdValue(ns3::TcpDctcp::GetTypeId()));
  SetDefault("ns3::TcpSocketBase::UseEcn", ns3::StringValue("On"));
  SetDefault("ns3::TcpSocketBase::MinRto", ns3::TimeValue(ns3::MilliSeconds(1)));
  SetDefault("ns3::TcpSocketBase::ClockGranularity", ns3::TimeValue(ns3::MicroSeconds(1)));
  SetDefault("ns3::TcpSocket::SegmentSize", ns3::UintegerValue(kSegment));
  SetDefault("ns3::TcpSocket::InitialCwnd", ns3::UintegerValue(10));
  SetDefault("ns3::TcpSocket::DelAckCount", ns3::UintegerValue(1));
  SetDefault("ns3::TcpSocket::SndBufSize", ns3::UintegerValue(64 << 20));
  SetDefault("ns3::TcpSocket::RcvBufSize", ns3::UintegerValue(64 << 20));
}

// Every host has a link to the switch, whose ports mark all packets above a queue depth and drop
// none.
std::vector<ns3::Ipv4Address> build(ns3::NodeContainer& hosts, ns3::Ptr<ns3::Node> middle,
                                    double gbit, std::uint64_t delay_ns, std::uint32_t mark) {
  ns3::PointToPointHelper cable;
  cable.SetDeviceAttribute("DataRate",
                           ns3::DataRateValue(ns3::DataRate(std::uint64_t(gbit * 1e9))));
  cable.SetDeviceAttribute("Mtu", ns3::UintegerValue(9000));
  cable.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(delay_ns)));
  cable.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("1p"));
  // ACKs first, as in the simulator; data is marked.
  ns3::TrafficControlHelper marking;
  const auto root = marking.SetRootQueueDisc("ns3::PrioQueueDisc");
  const auto classes = marking.AddQueueDiscClasses(root, 3, "ns3::QueueDiscClass");
  marking.AddChildQueueDisc(root, classes[0], "ns3::FifoQueueDisc");
  for (const auto id : {classes[1], classes[2]})
    marking.AddChildQueueDisc(root, id, "ns3::RedQueueDisc", "UseEcn", ns3::BooleanValue(true),
                              "UseHardDrop", ns3::BooleanValue(false), "QW", ns3::DoubleValue(1),
                              "MinTh", ns3::DoubleValue(mark), "MaxTh", ns3::DoubleValue(mark + 1),
                              "MaxSize", ns3::StringValue("30000000B"), "MeanPktSize",
                              ns3::UintegerValue(kSegment), "LinkBandwidth",
                              ns3::DataRateValue(ns3::DataRate(std::uint64_t(gbit * 1e9))));
  // Hosts serve their flows in turn and never drop packets.
  ns3::TrafficControlHelper plain;
  plain.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "Interval", ns3::StringValue("10s"), "Target",
                         ns3::StringValue("10s"), "MaxSize", ns3::StringValue("1000000p"));
  ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  std::vector<ns3::Ipv4Address> made;
  for (std::uint32_t i = 0; i < hosts.GetN(); ++i) {
    const auto devices = cable.Install(hosts.Get(i), middle);
    plain.Install(devices.Get(0));
    marking.Install(devices.Get(1));
    made.push_back(addresses.Assign(devices).GetAddress(0));
    addresses.NewNetwork();
  }
  ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  return made;
}

// The flow's two sockets: one listens, and one connects and waits for its start time.
void open(Flow& flow, const ns3::NodeContainer& hosts, ns3::Ipv4Address to, std::uint16_t port) {
  const auto type = ns3::TcpSocketFactory::GetTypeId();
  const auto listener = ns3::Socket::CreateSocket(hosts.Get(flow.to), type);
  listener->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
  listener->Listen();
  listener->SetAcceptCallback(
      ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
      ns3::Callback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>(
          [&flow](ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
            socket->SetIpTos(kAnswerTos);
            socket->SetRecvCallback(ns3::MakeCallback(&Flow::receive, &flow));
          }));
  flow.sender = ns3::Socket::CreateSocket(hosts.Get(flow.from), type);
  flow.sender->Bind();
  flow.sender->SetSendCallback(ns3::MakeCallback(&Flow::send, &flow));
  // Scheduled, because the queues exist only after the simulation has begun.
  ns3::Simulator::Schedule(ns3::Seconds(0), [&flow, to, port] {
    flow.sender->Connect(ns3::InetSocketAddress(to, port));
  });
  ns3::Simulator::Schedule(ns3::Seconds(kBegin) + ns3::NanoSeconds(flow.start_ns), &Flow::begin,
                           &flow);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: dctcp_flows HOSTS GBIT_PER_S DELAY_NS MARK_BYTES < flows\n";
    return 2;
  }
  use_dctcp();
  ns3::NodeContainer hosts;
  hosts.Create(static_cast<std::uint32_t>(std::atoi(argv[1])));
  const auto middle = ns3::CreateObject<ns3::Node>();
  ns3::InternetStackHelper stack;
  stack.Install(hosts);
  stack.Install(middle);
  const auto addresses =
      build(hosts, middle, std::atof(argv[2]), std::strtoull(argv[3], nullptr, 10),
            static_cast<std::uint32_t>(std::atoi(argv[4])));
  std::vector<std::unique_ptr<Flow>> flows;
  for (Flow one; std::cin >> one.from >> one.to >> one.bytes >> one.start_ns;)
    flows.push_back(std::make_unique<Flow>(one));
  for (std::size_t i = 0; i < flows.size(); ++i)
    open(*flows[i], hosts, addresses[flows[i]->to], static_cast<std::uint16_t>(kFirstPort + i));
  ns3::Simulator::Stop(ns3::Seconds(10));
  ns3::Simulator::Run();
  for (const auto& flow : flows)
    std::cout << flow->took_ns << "\n";
  ns3::Simulator::Destroy();
  return 0;
}
