# Where `cmake --install` puts which files. The plugin goes into the loader's path by its own name, so that a job uses it
# only on request (NCCL_NET_PLUGIN=dlcp); the name that NCCL loads by default is in a separate folder.
include(GNUInstallDirs)
set(DLCP_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Folder of zsh's completion functions")
set(DLCP_TOOL_PAGES "" CACHE PATH "Existing manual pages and completion (for cross builds; otherwise they are generated)")

install(TARGETS nccl-net-dlcp LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/dlcp/default/libnccl-net.so
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/dlcp/default)

set(documents ${CMAKE_INSTALL_DATADIR}/doc/nccl-dlcp)
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${documents})
install(FILES LICENSE DESTINATION ${documents} RENAME copyright)
install(DIRECTORY docs DESTINATION ${documents})
install(FILES switch/intent.schema.json DESTINATION ${documents}/switch)  # docs/switches.md refers to it
install(FILES scripts/wireshark/dlcp.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/nccl-dlcp)
install(PROGRAMS scripts/profile-loss DESTINATION ${CMAKE_INSTALL_DATADIR}/nccl-dlcp)
install(FILES scripts/profile_loss_example.py DESTINATION ${CMAKE_INSTALL_DATADIR}/nccl-dlcp)
# The licences of the libraries whose code is compiled into plugin and tools require that their authors are named.
set(libraries libfmt nlohmann-json3)
if(NOT DLCP_PLUGIN_ONLY)
  list(APPEND libraries libcli11 libyaml-cpp liblemon libkainjow-mustache)
endif()
foreach(library ${libraries})
  if(EXISTS /usr/share/doc/${library}-dev/copyright)
    install(FILES /usr/share/doc/${library}-dev/copyright DESTINATION ${documents}/licences RENAME ${library})
  else()
    message(WARNING "/usr/share/doc/${library}-dev/copyright is missing: the installation lacks the licence of ${library}, "
                    "which packages for others must contain")
  endif()
endforeach()

if(DLCP_PLUGIN_ONLY)
  return()
endif()
install(TARGETS dlcp dlcp-aggregator dlcp-hub dlcp-switch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES scripts/packaging/dlcp-hub.service DESTINATION lib/systemd/system)

if(NOT DLCP_TOOL_PAGES AND NOT CMAKE_CROSSCOMPILING)
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND)
    set(pages ${CMAKE_BINARY_DIR}/pages)
    add_custom_command(OUTPUT ${pages}/.made
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/packaging/tool-pages ${pages}
              $<TARGET_FILE:dlcp> $<TARGET_FILE:dlcp-aggregator> $<TARGET_FILE:dlcp-hub> $<TARGET_FILE:dlcp-switch>
      COMMAND ${CMAKE_COMMAND} -E touch ${pages}/.made
      DEPENDS dlcp dlcp-aggregator dlcp-hub dlcp-switch scripts/packaging/tool-pages docs/settings.md VERBATIM)
    add_custom_target(tool_pages ALL DEPENDS ${pages}/.made)
  else()
    message(STATUS "Python 3: not found; manual pages and completion will not be generated")
  endif()
else()
  set(pages ${DLCP_TOOL_PAGES})
endif()
if(pages)
  install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
  install(DIRECTORY ${pages}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
  install(DIRECTORY ${pages}/zsh/ DESTINATION ${DLCP_ZSH_FOLDER} OPTIONAL)
  install(DIRECTORY ${pages}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
endif()
