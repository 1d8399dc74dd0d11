# DLCP_YAML: yaml-cpp to link with, under the name of the installed version.
find_package(yaml-cpp REQUIRED)
if(DLCP_PORTABLE)
  find_library(DLCP_YAML NAMES libyaml-cpp.a REQUIRED)  # other systems have other versions of the shared library
elseif(TARGET yaml-cpp::yaml-cpp)
  set(DLCP_YAML yaml-cpp::yaml-cpp)
else()
  set(DLCP_YAML yaml-cpp)  # before 0.8
endif()
