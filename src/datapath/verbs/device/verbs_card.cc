#include "datapath/verbs/device/verbs_card.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "util/system/system_text.h"

namespace dlcp::datapath {
namespace {

constexpr std::size_t kSmallestMtu = 1024;  // required by the protocol's control frames

const char* hint_for(int error) {
  switch (error) {
    case ENOMEM:
    case EAGAIN:
      return "raise the limit on locked memory (ulimit -l; `dlcp doctor` shows it)";
    case EPERM:
    case EACCES:
      return "give this user (or container) access to /dev/infiniband/uverbs*";
    case ENOSYS:
      return "install the device's driver for rdma-core (package ibverbs-providers)";
    default:
      return "to run without RDMA, set DLCP_DATAPATH=udp";
  }
}

bool never_block(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

Status bring_up(Verbs& verbs, ibv_qp* qp, const RocePort& port) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = static_cast<std::uint8_t>(port.port);
  attributes.qkey = kQueueKey;
  if (const int error = verbs.modify_qp(
          qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
    return verbs_error("initialise a queue pair", port, error);
  attributes.qp_state = IBV_QPS_RTR;
  if (const int error = verbs.modify_qp(qp, &attributes, IBV_QP_STATE))
    return verbs_error("make a queue pair receive", port, error);
  attributes.qp_state = IBV_QPS_RTS;
  if (const int error = verbs.modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN))
    return verbs_error("make a queue pair send", port, error);
  return Unit{};
}

}  // namespace

Error verbs_error(const char* what, const RocePort& port, int error) {
  const int code = error > 0 ? error : errno;
  return {ErrorCode::kSystem,
          fmt::format("cannot {} on {}: {}", what, to_string(port), system_text(code)),
          hint_for(code)};
}

Result<std::unique_ptr<VerbsCard>> VerbsCard::open(std::shared_ptr<Verbs> verbs,
                                                   const RocePort& port, std::uint32_t send_entries,
                                                   std::uint32_t receive_entries) {
  auto card = std::make_unique<VerbsCard>();
  Verbs* const v = verbs.get();
  card->verbs = std::move(verbs);
  card->port = port;
  card->context = {v->open_device(port.device), {v}};
  if (card->context == nullptr) return verbs_error("open the RDMA device", port, 0);
  ibv_device_attr device{};
  ibv_port_attr attributes{};
  if (const int error = v->query_device(card->context.get(), &device))
    return verbs_error("query the device's limits", port, error);
  if (const int error =
          v->query_port(card->context.get(), static_cast<std::uint8_t>(port.port), &attributes))
    return verbs_error("query the port's state", port, error);
  card->path_mtu = attributes.active_mtu;
  card->mtu = card->port_mtu();
  if (card->mtu < kSmallestMtu) {
    return Error{ErrorCode::kInvalidUsage,
                 fmt::format("the MTU of {} for RoCE is {}, but at least {} are needed",
                             to_string(port), card->mtu, kSmallestMtu),
                 fmt::format("raise the MTU of {} to at least 1280", port.gid.netdev)};
  }
  card->requests_max = static_cast<std::uint32_t>(std::max(device.max_qp_wr, 1));
  card->handles_max =
      device.max_ah > 0 ? static_cast<std::uint32_t>(device.max_ah) : card->requests_max;
  card->pd = {v->alloc_pd(card->context.get()), {v}};
  card->channel = {v->create_comp_channel(card->context.get()), {v}};
  if (card->pd == nullptr || card->channel == nullptr)
    return verbs_error("allocate a protection domain", port, 0);
  card->entries_max = static_cast<std::uint32_t>(std::max(device.max_cqe, 1));
  card->windows_max = static_cast<std::uint32_t>(std::max(device.max_mw, 0));
  const auto entries = [&](std::uint32_t wanted) {
    return static_cast<int>(std::min(wanted, card->entries_max));
  };
  card->send_cq = {v->create_cq(card->context.get(), entries(send_entries), nullptr), {v}};
  card->receive_cq = {
      v->create_cq(card->context.get(), entries(receive_entries), card->channel.get()), {v}};
  if (card->send_cq == nullptr || card->receive_cq == nullptr)
    return verbs_error("create a completion queue", port, 0);
  if (!never_block(card->channel->fd) || !never_block(card->context->async_fd))
    return verbs_error("set up event delivery", port, 0);
  return card;
}

Result<QpPtr> VerbsCard::make_queue_pair(std::uint32_t send_requests,
                                         std::uint32_t receive_requests,
                                         std::uint32_t& inline_bytes) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = send_cq.get();
  attributes.recv_cq = receive_cq.get();
  attributes.qp_type = IBV_QPT_UD;
  attributes.cap.max_send_wr = send_requests;
  attributes.cap.max_recv_wr = receive_requests;
  attributes.cap.max_send_sge = 2;  // header and payload
  attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = inline_bytes;
  ibv_qp* made = verbs->create_qp(pd.get(), &attributes);
  if (made == nullptr && inline_bytes > 0) {  // not every driver reduces an unsupported size
    attributes.cap.max_inline_data = 0;
    made = verbs->create_qp(pd.get(), &attributes);
  }
  if (made == nullptr) return verbs_error("create a queue pair", port, 0);
  QpPtr qp(made, {verbs.get()});
  inline_bytes = std::min(inline_bytes, attributes.cap.max_inline_data);
  if (auto up = bring_up(*verbs, qp.get(), port); !up) return up.error();
  return qp;
}

}  // namespace dlcp::datapath
