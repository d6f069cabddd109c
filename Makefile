# SPDX-License-Identifier: Apache-2.0
# Makefile - builds Passmith; `make help` lists what it can do.
#
# One makefile, no recursion into folders. Sources are found by folder and its subfolders, so a new .c file needs no
# line here.
# Everything made goes below $(BUILD).

BUILD ?= build
DEV ?=
SAN ?=
HOSTILE ?=
CUDA ?=
TEST_LDFLAGS ?=
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# --- what there is to build ---------------------------------------------------------------------

LIB_DIRS := base targets ir simplify extract dataset matcher runtime integrity bench draw rt app
# Files of folders and of two levels below them: $(call below,ir bench,*.c).
below    = $(foreach d,$(1),$(wildcard $(d)/$(2) $(d)/*/$(2) $(d)/*/*/$(2)))
LIB_SRC  := $(call below,$(LIB_DIRS),*.c) ort/kernels.c
# libpassmith_rt, which is also a part of the program, and libpassmith_ort: their own files, and the few of the rest that they need.
# Nothing here may need more than libc.
RT_BASE  := $(addprefix base/core/,arena.c clean.c elf.c err.c str.c) \
	$(addprefix runtime/emu/,emu_entry.c emu_fail.c emu_fiber.c emu_object.c emu_sched.c) $(wildcard runtime/host/*.c)
RT_SRC   := $(wildcard rt/*.c) $(RT_BASE) ir/core/onnx_dtype.c ir/core/type.c runtime/cuda/cuda_api.c runtime/device/library.c \
	$(addprefix runtime/cuda/library/,cuda_algo.c cuda_conv.c cuda_gemm.c) $(wildcard runtime/cuda/library/lib_algo*.c)
ORT_SRC  := $(wildcard ort/*.c) rt/sha256.c runtime/cuda/cuda_api.c $(RT_BASE)
CLI_SRC  := $(filter-out cli/host/%,$(call below,cli,*.c))
# The program that runs passes, started by passmith.
HOST_SRC := $(wildcard cli/host/*.c)
PASS_SRC := $(wildcard passes/*.c passes/library/*/*.c)
PASS_CU  := $(wildcard passes/common/*.cu passes/library/*/*.cu)
# A pass of several files is a folder, with folders in it; its shared object has the folder's name.
PASS_DIR := $(filter-out common library,$(patsubst passes/%/,%,$(wildcard passes/*/)))
DIR_CU   := $(wildcard $(PASS_DIR:%=passes/%/*.cu))
KERNELS  := $(wildcard runtime/kernels/*/*.cu)
MODELS   := $(wildcard models/*.gpt)
HEADERS  := $(call below,$(LIB_DIRS) include cli ort rt tests/lib,*.h)
# Test programs by folder; other .c files in tests/plugin and tests/adversarial/passes are passes that the tests load.
TEST_DIRS    := unit conform plugin agent adversarial gpu
TEST_SRC     := $(call below,$(TEST_DIRS:%=tests/%),test_*.c)
# Measures, and so is no test: a program of its own, for the bundle.
TIME_SRC     := $(wildcard tests/gpu/time_*.c)
TEST_LIB_SRC := $(call below,tests/lib,*.c)
TEST_PASS    := $(filter-out $(TEST_SRC),$(wildcard tests/plugin/*.c tests/adversarial/passes/*.c))
FUZZ_SRC     := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC    := $(wildcard tests/bench/bench_*.c)

# --- how ----------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes \
	-Wwrite-strings -Wformat=2
ifneq ($(DEV),)
WARN += -Werror -Wcast-qual
endif

GEN := $(BUILD)/gen

# Kept although only implicit rules name them; unlike .SECONDARY, a missing one is made again.
.PRECIOUS: $(BUILD)/obj/%.o $(GEN)/%.h
PM_CPPFLAGS := -D_GNU_SOURCE -I. -Iinclude -I$(GEN) -MMD -MP
PM_CFLAGS := -std=c11 -g $(if $(SAN),-O1 -fno-omit-frame-pointer,-O2)
PM_LDFLAGS :=
PM_LIBS := -lprotobuf-c -lcjson -lsqlite3 -lsodium -lm -ldl -lpthread

ifneq ($(SAN),)
PM_CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=all
PM_LDFLAGS += -fsanitize=$(SAN)
endif
ifneq ($(HOSTILE),)
PM_CPPFLAGS += -DPM_HOSTILE
endif

# CUDA headers are used when they are found; the libraries are opened at run time, never linked.
CUDA_HOME ?= /usr/local/cuda
ifneq ($(CUDA),0)
ifneq ($(wildcard $(CUDA_HOME)/include/cuda.h),)
PM_CPPFLAGS += -DPM_HAVE_CUDA -isystem $(CUDA_HOME)/include
else ifneq ($(wildcard /usr/include/cuda.h),)
PM_CPPFLAGS += -DPM_HAVE_CUDA
endif
endif

# Graphviz lays drawings out when pkg-config finds it; GRAPHVIZ=0 ignores it, and our own layout does all.
GRAPHVIZ ?=
ifneq ($(GRAPHVIZ),0)
ifeq ($(shell pkg-config --exists libgvc libcgraph 2>/dev/null && echo yes),yes)
PM_CPPFLAGS += -DPM_HAVE_GRAPHVIZ
# Only the programs that draw load it.
PM_LIBS += -Wl,--as-needed -lgvc -lcgraph -Wl,--no-as-needed
endif
endif

# libonnx-dev installs the schema under one of these names.
ONNX_PROTO ?= $(firstword $(wildcard /usr/include/onnx/onnx-ml.proto /usr/include/onnx/onnx.proto) \
	/usr/include/onnx/onnx.proto)

# The line that builds a pass from C, for ours and for anyone's (docs/reference/building.md).
PASS_LINK = -nostdlib -nostartfiles -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--build-id=none
PASS_FLAGS = -std=c11 -O2 -fPIC -shared -fno-stack-protector -fvisibility=hidden $(PASS_LINK)
PASS_CC = $(CC) $(PASS_FLAGS) -I include -I $(GEN) -I $(GEN)/passes
PASS_WARN := $(filter-out -Wmissing-prototypes,$(WARN))

# --- derived names ------------------------------------------------------------------------------

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
pass_dep = $(patsubst $(BUILD)/%.so,$(BUILD)/obj/%.so.d,$(1))
LIB_OBJ  := $(call obj,$(LIB_SRC))
CLI_OBJ  := $(call obj,$(CLI_SRC))
HOST_OBJ := $(call obj,$(HOST_SRC))
TEST_LIB := $(call obj,$(TEST_LIB_SRC))
# Of which a test has what it calls: the compiler of packages is not in all of them.
TEST_AR  := $(BUILD)/libtests.a
# What is made of the files of passes/library lies in one folder: a pass is named by its file alone.
PASS_SO  := $(patsubst %.c,$(BUILD)/passes/%.so,$(notdir $(PASS_SRC)))
PASSES   := $(PASS_SO) $(PASS_DIR:%=$(BUILD)/passes/%.so)
PASS_CUH := $(patsubst %,$(GEN)/passes/%.h,$(notdir $(PASS_CU)))
PASS_INC := $(PASS_CUH) $(DIR_CU:passes/%=$(GEN)/passes/%.h)
KERNEL_H := $(patsubst %,$(GEN)/kernels/%.h,$(notdir $(KERNELS)))
TESTS    := $(patsubst %.c,$(BUILD)/%,$(TEST_SRC) $(TIME_SRC))
TEST_SO  := $(patsubst %.c,$(BUILD)/%.so,$(TEST_PASS))
# Libraries of GPUs that are made up, under the names by which the program opens the real ones.
MACHINE  := $(addprefix $(BUILD)/tests/machine/,libcuda.so.1 libnvrtc.so libnvidia-ml.so.1)
# A driver whose GPU is this processor, a cuBLASLt for it, and a cuDNN that is opened and no more.
EMU_LIBS := $(addprefix $(BUILD)/tests/machine/emu/,libcublasLt.so.13 libcudnn.so.9)
EMU_CUDA := $(BUILD)/tests/machine/emu/libcuda.so.1 $(EMU_LIBS)
# For the real ONNX Runtime: calls each function of its interface that is used.
PROBE    := $(BUILD)/tests/ort/ort_probe.so
# Objects that may not be loaded: each names, after "build:", what to link it with.
BAD_ELF  := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/adversarial/elf/*.c))
FUZZ     := $(patsubst %.c,$(BUILD)/%,$(FUZZ_SRC))
BENCH    := $(patsubst %.c,$(BUILD)/%,$(BENCH_SRC))
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/libfuzzer/%,$(FUZZ_SRC))
LIB      := $(BUILD)/libpassmith.a
ORT_OBJ  := $(ORT_SRC:%.c=$(BUILD)/obj-rt/%.o)
ORT      := $(BUILD)/libpassmith_ort.so
RT_OBJ   := $(RT_SRC:%.c=$(BUILD)/obj-rt/%.o)
RT       := $(BUILD)/libpassmith_rt.so
# How programs of this build find it, also after the folder of the build has moved.
RT_LINK   = -Wl,--as-needed -L$(BUILD) -lpassmith_rt -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../..:$$ORIGIN/../../lib' -Wl,--no-as-needed
CLI      := $(if $(CLI_SRC),$(BUILD)/passmith)
HOST     := $(BUILD)/passmith-host
ONNX     := $(if $(CLI_SRC),$(patsubst models/%.gpt,$(BUILD)/models/%.onnx,$(MODELS)))

# The generated sources exist as soon as the ir/ folder that needs them does.
ifneq ($(wildcard ir/*/*.c),)
GEN_OBJ := $(BUILD)/obj/gen/onnx.pb-c.o
GEN_H   := $(GEN)/onnx.pb-c.h
endif
GEN_H   += $(KERNEL_H)
GEN_H   += $(patsubst %,$(GEN)/%.h,$(wildcard bench/*/*.py dataset/*/*.sql draw/*/*.css draw/*/*.js app/*/*.json))
ifneq ($(wildcard tools/gen/gen-ops.sh),)
GEN_H   += $(GEN)/passmith/ops.h
endif

.PHONY: all lib tests unit passes models setup demo check adversarial honest check-kill check-cluster check-mcp check-slurm check-report bench-integrity bench-judge bench-eval bench-eval-many bench-clock bench-import bench-extract check-gpu check-atif check-ort check-python bundle golden-update fuzz gen fmt check-fmt check-spdx \
	check-layers check-cycles check-headers check-clang check-api check-size check-gen check-docs check-ops conform install uninstall dist clean help FORCE

all: $(LIB) $(CLI) $(HOST) $(RT) $(RT:.so=.a) $(ORT) $(PASSES) $(TESTS) $(TEST_SO) $(MACHINE) $(EMU_CUDA) $(PROBE) $(BAD_ELF) $(FUZZ) $(BENCH) $(ONNX)

lib: $(LIB)
tests: $(RT) $(ORT) $(TESTS) $(TEST_SO) $(MACHINE) $(EMU_CUDA) $(PROBE) $(BAD_ELF) $(FUZZ) $(PASSES) $(HOST)
# What tests/run.sh needs for tests/unit and tests/fuzz.
unit: $(RT) $(ORT) $(filter $(BUILD)/tests/unit/%,$(TESTS)) $(TEST_SO) $(MACHINE) $(EMU_CUDA) $(PROBE) $(BAD_ELF) $(FUZZ) $(PASSES) $(HOST)
passes: $(PASSES)
models: $(ONNX)

# One short line per step; V=1 shows the commands instead.
ifeq ($(V),)
Q = @printf '  %-6s %s\n' $(1) '$@';
endif

# --- generated sources --------------------------------------------------------------------------

$(GEN)/onnx.proto: $(ONNX_PROTO)
	@mkdir -p $(@D)
	@cp $< $@

$(GEN)/onnx.pb-c.c $(GEN)/onnx.pb-c.h &: $(GEN)/onnx.proto
	$(call Q,PROTO)cd $(GEN) && protoc-c --c_out=. onnx.proto

$(GEN)/passmith/ops.h: ir/core/ops.def tools/gen/gen-ops.sh
	@mkdir -p $(@D)
	$(call Q,GEN)tools/gen/gen-ops.sh > $@.tmp
	@mv $@.tmp $@

# Messages name a kernel's file without the folder of its topic, so that moving one makes no kernel another.
$(foreach k,$(KERNELS),$(eval $(GEN)/kernels/$(notdir $(k)).h: $(k)))
$(KERNEL_H): $(GEN)/kernels/%.cu.h: tools/gen/embed-cu.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-cu.sh $(filter %.cu,$^) runtime/kernels/$*.cu > $@.tmp
	@mv $@.tmp $@

$(GEN)/dataset/%.sql.h: dataset/%.sql tools/gen/embed-text.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-text.sh $< > $@.tmp
	@mv $@.tmp $@

$(GEN)/app/%.json.h: app/%.json tools/gen/embed-text.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-text.sh $< > $@.tmp
	@mv $@.tmp $@

$(GEN)/bench/%.py.h: bench/%.py tools/gen/embed-text.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-text.sh $< > $@.tmp
	@mv $@.tmp $@

# A style and a script of pages.
$(GEN)/draw/%.h: draw/% tools/gen/embed-text.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-text.sh $< > $@.tmp
	@mv $@.tmp $@

$(foreach k,$(PASS_CU),$(eval $(GEN)/passes/$(notdir $(k)).h: $(k)))
$(PASS_CUH): $(GEN)/passes/%.cu.h: tools/gen/embed-cu.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-cu.sh $(filter %.cu,$^) passes/$*.cu > $@.tmp
	@mv $@.tmp $@

$(DIR_CU:passes/%=$(GEN)/passes/%.h): $(GEN)/passes/%.cu.h: passes/%.cu tools/gen/embed-cu.sh
	@mkdir -p $(@D)
	$(call Q,EMBED)tools/gen/embed-cu.sh $< > $@.tmp
	@mv $@.tmp $@

# --- objects, library, programs -----------------------------------------------------------------

# Changes when the compiler or its flags do, so that one $(BUILD) never mixes two kinds of objects.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(PM_CPPFLAGS) $(PM_CFLAGS) $(WARN) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(PM_CPPFLAGS) $(CPPFLAGS) $(PM_CFLAGS) $(WARN) $(CFLAGS) -c $< -o $@

# protoc-c's output is not ours to keep free of warnings.
$(BUILD)/obj/gen/%.o: $(GEN)/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(PM_CPPFLAGS) $(CPPFLAGS) $(PM_CFLAGS) -w $(CFLAGS) -c $< -o $@

# Made anew each time: `ar` alone would keep members whose source is gone.
$(LIB): $(LIB_OBJ) $(GEN_OBJ)
	@rm -f $@
	$(call Q,AR)ar rcs $@ $^

# The same sources as position-independent code that shows nothing of itself but what the public header declares.
$(BUILD)/obj-rt/%.o: %.c $(BUILD)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call Q,CC)$(CC) $(PM_CPPFLAGS) $(CPPFLAGS) $(PM_CFLAGS) -fPIC -fvisibility=hidden $(WARN) $(CFLAGS) -c $< -o $@

# nodelete: what it has registered must outlive the handle by which it was loaded.
$(ORT): $(ORT_OBJ) ort/passmith_ort.map
	$(call Q,LINK)$(CC) -shared $(PM_LDFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=ort/passmith_ort.map \
		-Wl,-z,relro,-z,now,-z,nodelete $(if $(SAN),,-Wl,--no-undefined) -o $@ $(ORT_OBJ) -Wl,--as-needed -lm -ldl -lpthread

$(RT): $(RT_OBJ) rt/passmith_rt.map
	$(call Q,LINK)$(CC) -shared $(PM_LDFLAGS) $(LDFLAGS) -Wl,-soname,libpassmith_rt.so.1 -Wl,--version-script=rt/passmith_rt.map \
		-Wl,-z,relro,-z,now $(if $(SAN),,-Wl,--no-undefined) -o $@ $(RT_OBJ) -Wl,--as-needed -lm -ldl -lpthread
	@ln -sf $(@F) $@.1

# For who links it in: one object, of which all but the public functions is its own.
$(RT:.so=.a): $(RT_OBJ)
	@rm -f $@
	$(call Q,AR)ld -r -o $(@:.a=.o) $^ && objcopy --localize-hidden $(@:.a=.o) && ar rcs $@ $(@:.a=.o) && rm $(@:.a=.o)

$(BUILD)/passmith: $(CLI_OBJ) $(LIB)
	$(call Q,LINK)$(CC) $(PM_LDFLAGS) $(LDFLAGS) -o $@ $^ $(PM_LIBS)

# Read-only tables, and the bundle's libraries beside it: it starts with an empty environment.
$(HOST): $(HOST_OBJ) $(LIB)
	$(call Q,LINK)$(CC) $(PM_LDFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -Wl,-rpath,'$$ORIGIN/lib' -o $@ $^ $(PM_LIBS)

$(foreach s,$(PASS_SRC),$(eval $(BUILD)/passes/$(basename $(notdir $(s))).so: $(s)))
$(PASS_SO): $(BUILD)/passes/%.so: $(BUILD)/flags | $(GEN_H) $(PASS_INC)
	@mkdir -p $(@D) $(dir $(call pass_dep,$@))
	$(call Q,PASS)$(PASS_CC) $(PASS_WARN) -MMD -MP -MF $(call pass_dep,$@) -MT $@ -o $@ $(filter %/$*.c,$^)

$(PASS_DIR:%=$(BUILD)/passes/%.so): $(BUILD)/passes/%.so: $(wildcard $(PASS_DIR:%=passes/%/*.[ch]) $(PASS_DIR:%=passes/%/*/*.[ch]) $(PASS_DIR:%=passes/%/*/*.def)) $(wildcard include/passmith/*.h) $(PASS_INC) $(BUILD)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call Q,PASS)$(PASS_CC) -I $(GEN)/passes/$* $(PASS_WARN) -o $@ $(filter passes/$*/%.c,$^)

$(TEST_SO): $(BUILD)/%.so: %.c $(BUILD)/flags | $(GEN_H)
	@mkdir -p $(@D) $(dir $(call pass_dep,$@))
	$(call Q,PASS)$(PASS_CC) -I . $(PASS_WARN) -MMD -MP -MF $(call pass_dep,$@) -MT $@ -o $@ $<

$(BAD_ELF): $(BUILD)/%.so: %.c $(BUILD)/flags | $(GEN_H)
	@mkdir -p $(@D)
	$(call Q,PASS)$(CC) -std=gnu11 -O2 -fPIC -shared -fno-stack-protector -fvisibility=hidden -w -I . -I include -I $(GEN) \
		$$(sed -n '/^\/\/ build: /{s,^// build: ,,;s|published|$(PASS_LINK)|;p}' $<) -o $@ $<

$(BUILD)/tests/machine/libcuda.so.1 $(BUILD)/tests/machine/libnvrtc.so: tests/machine/fake_cuda.c
$(BUILD)/tests/machine/libnvidia-ml.so.1: tests/machine/fake_nvml.c
$(MACHINE): tests/machine/fake.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared $(WARN) -I . -o $@ $(filter %.c,$^)

$(BUILD)/tests/machine/emu/libcuda.so.1: $(BUILD)/obj-rt/tests/machine/emu_cuda.o $(filter $(BUILD)/obj-rt/base/% $(BUILD)/obj-rt/runtime/emu/% $(BUILD)/obj-rt/runtime/host/%,$(RT_OBJ))
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) -shared $(PM_LDFLAGS) $(LDFLAGS) -Wl,-soname,libcuda.so.1 -o $@ $^ -lm -ldl -lpthread

$(BUILD)/tests/machine/emu/libcublasLt.so.13: $(BUILD)/obj-rt/tests/machine/emu_lt.o
$(BUILD)/tests/machine/emu/libcudnn.so.9: $(BUILD)/obj-rt/tests/machine/emu_dnn.o
$(EMU_LIBS):
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) -shared $(PM_LDFLAGS) $(LDFLAGS) -Wl,-soname,$(@F) -o $@ $^ -ldl -lpthread

$(PROBE): $(BUILD)/obj-rt/tests/ort/ort_probe.o $(BUILD)/obj-rt/ort/api.o
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) -shared $(PM_LDFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/models/%.onnx: models/%.gpt $(BUILD)/passmith
	@mkdir -p $(@D)
	$(call Q,MODEL)$(BUILD)/passmith import $< -o $@

# --- tests and fuzz targets ---------------------------------------------------------------------

# What a test does takes its time in the library and in the helpers of tests/lib; compiling the test itself well takes
# longer than that saves. What measures is compiled as the library is. (private: $(BUILD)/flags is the same for all.)
$(call obj,$(filter-out tests/gpu/%,$(TEST_SRC)) $(FUZZ_SRC)): private PM_CFLAGS += -O1

# Tests call libpassmith_rt as it is installed: it comes before the archive that has its functions, too.
$(TEST_AR): $(TEST_LIB)
	@rm -f $@
	$(call Q,AR)ar rcs $@ $^

# Nests are tested apart from the pass.
NEST_OBJ := $(call obj,$(addprefix passes/fuse/,index/ix.c loop/nest.c loop/print.c loop/parse.c cost/walk.c codegen/gen_value.c codegen/gen_stmt.c))
$(BUILD)/tests/unit/passes/test_fuse_nest: $(NEST_OBJ)

$(TESTS) $(BENCH): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_AR) $(LIB) $(RT)
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(PM_LDFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $(filter-out $(RT) $(LIB),$^) $(RT_LINK) $(LIB) -lcmocka $(PM_LIBS)

# With a plain main that replays inputs, so that the targets do not rot where there is no clang.
$(FUZZ): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/fuzz/replay_main.o $(TEST_AR) $(LIB) $(RT)
	@mkdir -p $(@D)
	$(call Q,LINK)$(CC) $(PM_LDFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -o $@ $(filter-out $(RT) $(LIB),$^) $(RT_LINK) $(LIB) -lcmocka $(PM_LIBS)

FUZZ_FLAGS := -std=c11 -g -O1 -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all

$(BUILD)/libfuzzer/%: tests/fuzz/%.c $(LIB_SRC) $(TEST_LIB_SRC) $(HEADERS) | $(GEN_H)
	@mkdir -p $(@D)
	$(call Q,FUZZ)$(CLANG) $(filter-out -MMD -MP,$(PM_CPPFLAGS)) $(CPPFLAGS) $(FUZZ_FLAGS) -w -o $@ $< $(LIB_SRC) \
		$(if $(GEN_OBJ),$(GEN)/onnx.pb-c.c) $(TEST_LIB_SRC) -lcmocka $(PM_LIBS)

# FUZZ_TARGETS="onnx graph_text" picks some; FUZZ_TIME=600 is how many seconds each runs.
FUZZ_TARGETS ?=
fuzz: $(if $(FUZZ_TARGETS),$(FUZZ_TARGETS:%=$(BUILD)/libfuzzer/fuzz_%),$(FUZZ_BIN)) ## runs the libFuzzer programs (clang), each for FUZZ_TIME seconds (60)
	@FUZZ_TIME='$(or $(FUZZ_TIME),60)' tests/fuzz/run.sh $(BUILD) $(FUZZ_TARGETS)

# --- for people ---------------------------------------------------------------------------------

# Set-up may install what the lists above look for: the build runs in a make of its own, afterwards.
SUBMAKE = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) BUILD=$(BUILD)

setup: ## installs what the build needs from the distribution, or prints the line that does
	@tools/setup.sh

demo: ## set-up, build, and the main job end to end on the bundled models
	@tools/setup.sh
	+@$(SUBMAKE) all
	@BUILD=$(BUILD) tools/demo.sh

check: ## set-up, build, and all tests; the last line counts them
	@tools/setup.sh
	+@$(SUBMAKE) all
	@BUILD=$(BUILD) tests/run.sh

honest: all ## honest kernels over random shapes and our own passes, of which at most 0.5 % may be refused (SEEDS="1 7")
	@BUILD=$(BUILD) tools/judge/honest.sh $(SEEDS)

adversarial: all ## the attacks, counted by family (tests/adversarial/fixtures.tsv)
	@BUILD=$(BUILD) tools/judge/adversarial.sh

check-kill: all ## kills the processes of an evaluation at 200 random moments (tests/adversarial/test_kill.c)
	@BUILD=$(BUILD) PASSMITH_KILLS=200 TEST_TIMEOUT=3600 tests/run.sh -v adversarial/test_kill

check-cluster: all ## kills workers of a plan, and what they start, at 200 random moments (tests/cli/cluster/kills.sh)
	@BUILD=$(BUILD) PASSMITH_KILLS=200 TEST_TIMEOUT=3600 tests/run.sh -v cluster/

check-mcp: all ## drives passmith mcp with the official Python SDK, versions 2 and 1, from PyPI (SCHEMA=folder of published schemas)
	@BUILD=$(BUILD) tools/check/mcp.sh $(if $(SCHEMA),--schema $(SCHEMA))

check-atif: $(CLI) ## validates exports of sessions with the models that Harbor publishes, from PyPI
	@BUILD=$(BUILD) tools/check/check-atif.sh

check-slurm: all ## a plan on a Slurm of this machine alone, to which everything happens: kills, time limits, full disks, nodes and controllers that fail
	@BUILD=$(BUILD) tests/cluster/slurm.sh

check-ort: all ## rewritten models in ONNX's checker and ONNX Runtime, from PyPI, beside the models they came from
	@BUILD=$(BUILD) tools/check/check-ort.sh

check-python: all ## the tests of the Python package with PyTorch and the ONNX exporter, from PyPI
	@BUILD=$(BUILD) tools/check/check-python.sh

check-report: all ## the pages of passmith report and view in a headless Chromium, where one is installed with chromedriver (SHOTS=folder keeps pictures)
	@PASSMITH_ROOT=$(CURDIR) PASSMITH_CACHE=$(abspath $(BUILD))/test-cache tests/browser/report.py $(BUILD) --many $(if $(SHOTS),--shots $(SHOTS))
	@PASSMITH_ROOT=$(CURDIR) PASSMITH_CACHE=$(abspath $(BUILD))/test-cache tests/browser/view.py $(BUILD) $(if $(SHOTS),--shots $(SHOTS))

check-gpu: all ## the tests that need an NVIDIA GPU, and with one the passes' tables and timed attacks on it
	@BUILD=$(BUILD) tools/check/check-gpu.sh

# What the bundle holds besides the sources.
BUNDLE_NEEDS := $(CLI) $(HOST) $(ORT) $(PASSES) $(ONNX) $(filter $(BUILD)/tests/gpu/% $(BUILD)/tests/unit/runtime/test_nvrtc $(BUILD)/tests/unit/passes/test_pass_library $(BUILD)/tests/adversarial/test_device $(BUILD)/tests/adversarial/test_timed $(BUILD)/tests/adversarial/test_siege_timed \
	$(PASS_SO:$(BUILD)/passes/%.so=$(BUILD)/tests/unit/passes/test_pass_%),$(TESTS)) $(filter %_silu.so %/device_attacks.so %/timed_attacks.so %/siege_timed.so %/siege_interior.so,$(TEST_SO))

bench-integrity: $(BENCH) $(HOST) $(PASSES) ## times an evaluation on emu and each layer around strangers' code
	@$(BUILD)/tests/bench/bench_integrity

bench-judge: $(BENCH) ## what the error bound refuses and admits: 20 bodies, 3 types, 10^6 terms (docs/results/judge.md; 2 core-hours)
	@BUILD=$(BUILD) tools/judge/judge.sh $(BUILD)/judge.json

bench-eval: $(CLI) $(HOST) $(PASSES) $(BUILD)/tests/plugin/wrong_silu.so ## times evaluations of 60 graphs (docs/results/evaluation-time.md; on 2 cores 2 hours; DEVICE=emu ROUNDS=1 BUDGET_S=600 GPU_ONLY=1)
	@tools/bench/bench_eval.py --build $(BUILD) --json $(BUILD)/bench-eval.json --device $(or $(DEVICE),all) --rounds $(or $(ROUNDS),5) \
		--budget $(or $(BUDGET_S),0) $(if $(GPU_ONLY),--gpu-only)

bench-eval-many: $(CLI) $(HOST) $(PASSES) ## graphs a minute: all of a folder with one pass (GRAPHS=DIR DEVICE=emu JOBS=4 BUDGET_S=600)
	@tools/bench/eval_many.py --build $(BUILD) --json $(BUILD)/bench-eval-many.json --graphs $(or $(GRAPHS),$(BUILD)/graphs) --device $(or $(DEVICE),emu) \
		--jobs $(or $(JOBS),0) --budget $(or $(BUDGET_S),0)

bench-clock: $(BENCH) ## how the clock decides beside other rules, on simulated devices (docs/design/timing.md; on 1 core 15 minutes)
	@$(BUILD)/tests/bench/bench_clock --json $(BUILD)/clock_rules.json --runs $(or $(RUNS),2000)

bench-extract: $(BENCH) ## times extraction from graphs of 300,000 nodes
	@$(BUILD)/tests/bench/bench_extract

bundle: $(BUNDLE_NEEDS) ## $(BUILD)/bundle: a folder that runs on a GPU node (docs/reference/gpu.md)
	@BUILD=$(BUILD) tools/release/bundle.sh $(BUILD)/bundle

bench-import: $(BENCH) $(ONNX) ## how fast models are read, and in how much memory (docs/results/import.md)
	@BUILD=$(BUILD) tools/bench/bench-import.sh

check-ops: all ## the ONNX node tests, with the counts per operator shown
	@BUILD=$(BUILD) tests/run.sh -v conform

conform: $(CLI) ## runs the ONNX node tests on ref and emu and writes docs/reference/conformance.md
	$(BUILD)/passmith conform --doc docs/reference/conformance.md

golden-update: all ## rewrites the expected parts of tests/golden; review the diff
	@BUILD=$(BUILD) PM_GOLDEN_UPDATE=1 tests/run.sh golden agent/trajectory eval/field pass/fuse_stages

docs/results/report.html: docs/results/h200_systems.json $(CLI)
	$(CLI) report --times $< -o $@

gen: $(GEN_H) $(CLI) $(HOST) ## makes the generated files, also those of docs/reference which are committed
	tools/gen/exemplars.sh $(BUILD)
	tools/gen/gen-reference.sh $(BUILD)
	tools/gen/picture.sh
	tools/gen/structure.sh
	if command -v python3 >/dev/null; then tools/gen/results_pages.py && tools/gen/eval_page.py && tools/gen/levels_page.py && tools/gen/deploy_page.py && tools/gen/systems_tables.py && tools/gen/whole_models_page.py && tools/bench/cluster_sim.py --write; fi

check-gen: $(CLI) ## fails when a committed generated page is not fresh
	@tools/gen/gen-reference.sh $(BUILD) --check
	@tools/gen/picture.sh --check
	@tools/gen/structure.sh --check
	@if command -v python3 >/dev/null; then tools/gen/results_pages.py --check && tools/gen/judge_page.py --check && tools/gen/eval_page.py --check && tools/gen/levels_page.py --check && tools/gen/deploy_page.py --check && tools/gen/systems_tables.py --check && tools/gen/whole_models_page.py --check && tools/bench/cluster_sim.py --check; \
		else echo "check-gen: python3 is not here, so that the tables of docs/results are not checked"; fi

check-docs: ## fails on links that lead nowhere and on sentences of 40 words
	@tools/check/check-docs.sh

fmt: ## formats all C files
	@tools/check/format.sh -i

check-fmt: ## fails when a C file is not formatted
	@tools/check/format.sh

check-spdx: ## fails when a source file has no licence line (tools/check/spdx.sh adds it)
	@tools/check/spdx.sh --check

check-layers: ## fails when a file includes what its folder may not (tools/check/layers.txt)
	@tools/check/check-layers.sh

check-cycles: $(LIB) $(CLI_OBJ) $(HOST_OBJ) ## fails when files need each other in a circle that tools/check/cycles.txt does not name
	@BUILD=$(BUILD) tools/check/check-cycles.sh

check-headers: $(GEN_H) ## compiles each header alone
	@BUILD=$(BUILD) CC='$(CC)' CPPFLAGS='$(filter-out -MMD -MP,$(PM_CPPFLAGS))' tools/check/check-headers.sh $(HEADERS)

check-clang: $(GEN_H) $(PASS_INC) ## fails when clang warns of a C file or cannot make code of it (make passes CC=clang: the passes)
	@CLANG='$(CLANG)' CFLAGS='$(filter-out -MMD -MP,$(PM_CPPFLAGS)) -I$(GEN)/passes -std=c11 $(PASS_WARN) $(CPPFLAGS)' \
		tools/check/check-clang.sh $(TEST_PASS) $(wildcard exemplars/*.c)
	@CLANG='$(CLANG)' CFLAGS='$(filter-out -MMD -MP,$(PM_CPPFLAGS)) -std=c11 $(WARN) $(CPPFLAGS)' tools/check/check-clang.sh $(LIB_SRC) $(CLI_SRC) \
		$(filter ort/% rt/%,$(ORT_SRC)) tests/ort/ort_probe.c $(HOST_SRC) $(TEST_LIB_SRC) $(TEST_SRC) $(TIME_SRC) $(FUZZ_SRC) $(BENCH_SRC) tests/fuzz/replay_main.c

check-api: ## fails when a public header declares a function without a comment
	@tools/check/check-api.sh

check-size: ## file sizes, stray operator switches and unfinished words
	@tools/check/check.sh

PREFIX ?= /usr/local
DESTDIR ?=
INSTALL = BUILD='$(BUILD)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' PASS_FLAGS='$(PASS_FLAGS)' tools/release/install.sh

install: $(CLI) $(HOST) $(RT) $(RT:.so=.a) $(ORT) $(PASSES) $(ONNX) ## programs, libraries, SDK, passes, models, manual pages, completion into DESTDIR + PREFIX (/usr/local)
	@$(INSTALL) install

uninstall: ## removes what install put there
	@$(INSTALL) uninstall

dist: ## $(BUILD)/passmith-VERSION.tar.gz: the sources, from which make check runs
	@BUILD=$(BUILD) tools/release/dist.sh

clean: ## removes $(BUILD)
	rm -rf $(BUILD)

help: ## this list
	@echo "make [target] [DEV=1] [SAN=address,undefined] [HOSTILE=1] [CUDA=0] [BUILD=folder] [CC=compiler]"
	@echo
	@printf '  %-15s %s\n' all 'library, program, passes, tests and bundled models (the default)'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS="$$(printf '\t')" read -r name what; do printf '  %-15s %s\n' "$$name" "$$what"; done
	@echo
	@echo "DEV=1 turns warnings into errors; SAN=... builds with sanitizers; HOSTILE=1 makes memory move and"
	@echo "freed bytes change; CUDA=0 ignores CUDA headers. Use another BUILD folder for each combination."

-include $(patsubst %.o,%.d,$(RT_OBJ) $(ORT_OBJ) $(patsubst %,$(BUILD)/obj-rt/tests/%.o,machine/emu_cuda machine/emu_lt machine/emu_dnn ort/ort_probe) $(LIB_OBJ) $(CLI_OBJ) $(TEST_LIB) $(NEST_OBJ) $(GEN_OBJ) $(call obj,$(TEST_SRC) $(TIME_SRC) $(FUZZ_SRC) $(BENCH_SRC)) \
	$(BUILD)/obj/tests/fuzz/replay_main.o) $(call pass_dep,$(PASSES) $(TEST_SO))
