// The rules of connected queue pairs: the attributes for each change of state, and the access that
// a read needs.
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace dlcp::datapath::test {

// -1: there is no such change.
inline int required_mask(const ibv_qp& qp, ibv_qp_state state) {
  const bool is_rc = qp.qp_type == IBV_QPT_RC;
  if (state == IBV_QPS_RESET) return IBV_QP_STATE;
  if (state == IBV_QPS_INIT && qp.state == IBV_QPS_RESET)
    return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  if (state == IBV_QPS_RTR && qp.state == IBV_QPS_INIT)
    return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
  if (state == IBV_QPS_RTS && qp.state == IBV_QPS_RTR)
    return IBV_QP_STATE | IBV_QP_SQ_PSN |
           (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                  : 0);
  return -1;
}

// True if the regions permit to read the remote range into the local one. `access`: of each region.
inline bool may_read(const std::map<ibv_mr*, int>& access, const ibv_send_wr& read) {
  const ibv_sge& landing = *read.sg_list;
  const auto allows = [&](std::uint32_t ibv_mr::*key, std::uint32_t value, int wanted,
                          std::uint64_t from) {
    return std::ranges::any_of(access, [&](const auto& entry) {
      const auto begin = std::uint64_t{reinterpret_cast<std::uintptr_t>(entry.first->addr)};
      return entry.first->*key == value && (entry.second & wanted) != 0 && from >= begin &&
             from + landing.length <= begin + entry.first->length;
    });
  };
  return allows(&ibv_mr::rkey, read.wr.rdma.rkey, IBV_ACCESS_REMOTE_READ,
                read.wr.rdma.remote_addr) &&
         allows(&ibv_mr::lkey, landing.lkey, IBV_ACCESS_LOCAL_WRITE, landing.addr);
}

}  // namespace dlcp::datapath::test
