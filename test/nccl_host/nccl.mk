# Builds NCCL's host code against the software CUDA of this folder, by the rules of NCCL's own Makefile:
#   make -C NCCL/src -f .../test/nccl_host/nccl.mk HERE=.../test/nccl_host BUILDDIR=... CUDARTLIB=cudart nccl-host
# Nothing is written into NCCL's tree. The files that its Makefile compiles with nvcc are left out; NCCL's scripts generate
# the tables from functions to kernels, with empty kernels.
include Makefile

# For tests only: fewer optimisations, warnings only for this project's files, and no second run for dependencies.
CXXFLAGS := $(filter-out -O3 -g -Wall -Wextra,$(CXXFLAGS)) -O1 -w
HEADERS = -I. -I$(INCDIR) -I$(OBJDIR)/include -Iinclude -I$(INCPLUGIN) -I$(DOCA_HOME)/include
$(OBJDIR)/%.o : %.cc $(INCTARGETS)
	@mkdir -p $(@D)
	@$(CXX) $(HEADERS) $(CXXFLAGS) -c $< -o $@
$(DOCA_OBJDIR)/%.o : $(DOCA_HOME)/src/%.cpp
	@mkdir -p $(@D)
	@$(CXX) -I$(DOCA_HOME)/src -I$(DOCA_HOME)/include $(CXXFLAGS) -c $< -o $@

TABLES := $(BUILDDIR)/tables
$(TABLES)/done: device/generate.py device/symmetric/generate.py
	@rm -rf $(TABLES) && mkdir -p $(TABLES)/symmetric
	@cd device && python3 -B ./generate.py $(TABLES) && python3 -B ./symmetric/generate.py $(TABLES)/symmetric
	@sed 's/^\( *__global__ void .*\);/\1 {}/' $(TABLES)/host_table.cc > $(TABLES)/kernels.cc
	@sed 's/^\( *__global__ void .*\);/\1 {}/' $(TABLES)/symmetric/sym_kernels_host.cc > $(TABLES)/symmetric_kernels.cc
	@touch $@
$(TABLES)/%.o: $(TABLES)/done $(INCTARGETS)
	@$(CXX) $(HEADERS) -Idevice $(CXXFLAGS) -c $(TABLES)/$*.cc -o $@

OURS := -std=c++20 -O2 -g1 -fPIC -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter -isystem $(CUDA_INC)
$(BUILDDIR)/device/%.o: $(HERE)/device/%.cc $(wildcard $(HERE)/device/*.h) $(INCTARGETS)
	@mkdir -p $(@D)
	@$(CXX) -I$(HERE)/device $(HEADERS:-I%=-isystem %) $(CXXFLAGS) -w $(OURS) -c $< -o $@
$(BUILDDIR)/cuda/%.o: $(HERE)/cuda/%.cc $(wildcard $(HERE)/cuda/*.h)
	@mkdir -p $(@D)
	@$(CXX) -I$(HERE) $(OURS) -c $< -o $@

CUDA_OBJECTS := $(patsubst $(HERE)/%.cc,$(BUILDDIR)/%.o,$(wildcard $(HERE)/cuda/*.cc $(HERE)/cuda/api/*.cc))
$(BUILDDIR)/libcudart.so.$(CUDA_MAJOR): $(CUDA_OBJECTS) $(HERE)/cuda/exports.map
	@$(CXX) -shared $(CUDA_OBJECTS) -Wl,--version-script=$(HERE)/cuda/exports.map -Wl,-soname,$(@F) -o $@ -lpthread -ldl
	@for name in libcudart.so libcuda.so.1 libnvidia-ml.so.1; do ln -sf $(@F) $(BUILDDIR)/$$name; done

OBJECTS = $(LIBOBJ) $(TABLES)/kernels.o $(TABLES)/symmetric_kernels.o $(BUILDDIR)/device/work.o
$(BUILDDIR)/libnccl.so.2: $(OBJECTS) $(BUILDDIR)/libcudart.so.$(CUDA_MAJOR)
	@$(CXX) -shared $(OBJECTS) -Wl,--no-undefined -Wl,-soname,$(@F) -o $@ -L$(BUILDDIR) -lcudart -lpthread -lrt -ldl
	@ln -sf $(@F) $(BUILDDIR)/libnccl.so

$(BUILDDIR)/nccl_host_ranks: $(wildcard $(HERE)/ranks/*.cc) $(wildcard $(HERE)/ranks/*.h) $(BUILDDIR)/libnccl.so.2
	@$(CXX) $(filter-out -fvisibility=hidden,$(OURS)) -I$(HERE) -isystem $(INCDIR) $(wildcard $(HERE)/ranks/*.cc) -o $@ \
	  -L$(BUILDDIR) -lnccl -lcudart -lpthread -Wl,-rpath,'$$ORIGIN'

nccl-host: $(BUILDDIR)/nccl_host_ranks
.PHONY: nccl-host
