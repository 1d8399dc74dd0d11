# The sources that DLCP_UNITY compiles separately, because a name in their unnamed namespace has another meaning in a source
# of the same batch. The compiler reports such a clash as a redefinition: rename one of the two, or add the file here.

# dlcp_apart(TARGET SOURCE...): compiles these sources of the target separately; paths are relative to the project.
function(dlcp_apart target)
  if(NOT TARGET ${target})
    return()
  endif()
  foreach(source ${ARGN})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
      message(FATAL_ERROR "scripts/cmake/unity.cmake names ${source}, which does not exist: remove the name")
    endif()
  endforeach()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

dlcp_apart(dlcp_util_batched src/util/text/quantity.cc)  # Unit
dlcp_apart(dlcp_datapath_udp_batched src/datapath/udp/interfaces/interfaces.cc)  # system_error()
dlcp_apart(dlcp_datapath_verbs src/datapath/verbs/rings/send_ring.cc)  # kLineBytes
dlcp_apart(dlcp_engine_batched src/engine/hub/hub_word.cc)  # kMagic, kVersion, garbled()
dlcp_apart(dlcp_fabric_model src/fabric/order_reader.cc)  # Json
dlcp_apart(dlcp_order  # at(), median(), bad()
  src/order/solve/cost.cc src/order/discover/find_fabric.cc src/order/solve/hierarchy.cc src/order/output/rank_variables.cc src/order/solve/solve.cc
  src/order/solve/swap_search.cc)
dlcp_apart(dlcp_synth_plan src/synth/topology.cc)  # refuse()
dlcp_apart(dlcp_nccl src/nccl/collnet/collnet.cc src/nccl/profile/recorder.cc)  # part_of(), kCollectivesMax
dlcp_apart(dlcp_simulate  # kAll, kTimeoutRounds, kCardBytes
  src/simulate/figures/iteration.cc src/simulate/figures/neighbours.cc src/simulate/opponents/pfabric.cc
  src/simulate/opponents/flows/window_transport.cc)
dlcp_apart(dlcp_cli_plugin src/cli/plugin/net_plugin.cc)  # adapt()
dlcp_apart(dlcp_cli_command_line src/cli/command_line/output/moving_line.cc)  # columns()
dlcp_apart(dlcp_cli_bench src/cli/bench/report.cc)  # losses_json(), round_up()
dlcp_apart(dlcp_cli  # seconds(), fail(), time_text(), name_of()
  src/cli/stats/output/prometheus.cc src/cli/stats/top/top.cc src/cli/stats/top/top_view.cc src/cli/traffic_class.cc)
dlcp_apart(dlcp_cli_doctor src/cli/doctor/peer/port_check.cc)  # local_clock()
dlcp_apart(dlcp_cli_order src/cli/order/order_report.cc)  # Json
dlcp_apart(dlcp_fabric  # take(), check_names(), Json, text_of(), names_of()
  switch/capability/features.cc switch/model/intent_file/intent_file.cc switch/telemetry/collect.cc
  switch/telemetry/dashboard.cc
  switch/telemetry/capture/gnmi_tree.cc switch/telemetry/names.cc switch/vendors/tree/change/gnmi_set.cc)
dlcp_apart(dlcp_sim_path test/sim/path/sweep.cc test/sim/path/yardstick.cc)  # seconds()
