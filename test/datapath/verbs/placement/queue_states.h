// The attributes that a connected queue pair needs for each change of its state.
#pragma once

#include <infiniband/verbs.h>

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

}  // namespace dlcp::datapath::test
