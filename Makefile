# GNU make. A packager edits config.mk only; all output goes to build/$(VARIANT)/.
#   make                 build/release/canceld
#   make check           the tests to run after every change (test/README has the others); installs the packages that
#                        they need where apt-get is available, else names the missing ones
#   make VARIANT=asan check   VARIANT: release debug asan cov fuzz mutants portable
#   make V=1             shows the commands

include config.mk

VARIANT ?= release
BUILD ?= build
B := $(BUILD)/$(VARIANT)
SEEDS ?= 200
SECONDS ?= 600
WERROR ?=
V ?=

# One short line for each command; V=1 shows the commands.
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(call quoted,$(or $(2),$@));)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory

# Flags

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wswitch-enum -Wcast-qual -Wundef -Wformat=2 $(WERROR)

VARIANT_CPPFLAGS =
VARIANT_CFLAGS =
VARIANT_LDFLAGS =
PROGRAM_LDFLAGS = $(VARIANT_LDFLAGS)
SANITIZERS = address,undefined

# No test writes a history into the home of whoever runs it.
export XDG_STATE_HOME := $(abspath $(B))/state

ifeq ($(VARIANT),release)
ifeq ($(origin LTO),undefined)
LTO := $(shell test/tools/lto.sh '$(CC)' '$(AR)')
endif
VARIANT_CFLAGS = $(HARDEN_CFLAGS) $(LTO)
VARIANT_LDFLAGS = $(HARDEN_LDFLAGS) $(LTO)
# canceld is optimized as a whole, as are the benchmarks. cancelctl and the test programs have the same objects, linked as
# they are: of the time to build all, the optimization of so many programs took the most.
NO_LTO = $(if $(findstring fat-lto,$(LTO)),-fno-lto)
else ifeq ($(VARIANT),debug)
VARIANT_CPPFLAGS = -DSPARES=1
VARIANT_CFLAGS = -O0 -g3
else ifeq ($(VARIANT),asan)
VARIANT_CPPFLAGS = -DSPARES=1
VARIANT_CFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=$(SANITIZERS) -fno-sanitize-recover=all
VARIANT_LDFLAGS = -fsanitize=$(SANITIZERS)
export CK_TIMEOUT_MULTIPLIER ?= 10
export E2E_SLACK ?= 1000
export ASAN_OPTIONS ?= detect_stack_use_after_return=1:allocator_may_return_null=1
export UBSAN_OPTIONS ?= print_stacktrace=1
else ifeq ($(VARIANT),cov)
VARIANT_CFLAGS = -O0 -g --coverage
VARIANT_LDFLAGS = --coverage -Wl,--wrap=_exit -Wl,--wrap=system_isolate
export CK_TIMEOUT_MULTIPLIER ?= 20
# A process that is killed while it keeps its counts spoils them: what gcov says of that is no output of a program.
export GCOV_ERROR_FILE := $(abspath $(B))/errors
else ifeq ($(VARIANT),fuzz)
VARIANT_CPPFLAGS = -DSPARES=1
VARIANT_CFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,$(SANITIZERS) -fno-sanitize-recover=all
VARIANT_LDFLAGS = -fsanitize=$(SANITIZERS)
else ifeq ($(VARIANT),mutants)
VARIANT_CPPFLAGS = -DDECISIONS_MUTABLE
else ifeq ($(VARIANT),portable)
SYSTEM := posix
else
$(error VARIANT=$(VARIANT): want release, debug, asan, cov, fuzz, mutants or portable)
endif

# Assertions always stay; some compilers define NDEBUG by themselves.
COMPILE_FLAGS = -std=c11 -D_GNU_SOURCE -DCANCELD_VERSION='"$(VERSION)"' -Iinclude $(VARIANT_CPPFLAGS) \
	$(EV_CFLAGS) $(JANSSON_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(VARIANT_CFLAGS) -UNDEBUG $(WARNINGS)
TEST_COMPILE_FLAGS = -Itest -Isrc $(CHECK_CFLAGS) $(NO_LTO)
LINK = $(CC) $(CFLAGS) $(VARIANT_CFLAGS) $(LDFLAGS) $(PROGRAM_LDFLAGS) -o $@

# Sources, objects and programs

objects = $(patsubst %.c,$(B)/obj/%.o,$(wildcard $(1)))

CORE_OBJECTS := $(call objects,src/core/*/*.c)
SHELL_OBJECTS := $(filter-out $(B)/obj/src/shell/system/system_%,$(call objects,src/shell/*.c src/shell/*/*.c)) \
	$(patsubst %,$(B)/obj/src/shell/system/system_%.o,$(SYSTEM) $(addprefix not_,$(filter-out $(SYSTEM),linux darwin)))
CTL_OBJECTS := $(call objects,src/ctl/*/*.c)
MAIN_OBJECTS := $(call objects,src/canceld.c src/cancelctl.c)
UNIT_OBJECTS := $(call objects,test/main.c test/suites.c test/needs.c test/folder.c test/core/*.c test/shell/*.c test/ctl/*.c)
SCENARIO_OBJECTS := $(call objects,test/golden.c test/scenario/*.c)
SIM_OBJECTS := $(call objects,test/golden.c test/sim/*.c)
EXPLORE_OBJECTS := $(call objects,test/explore/*.c test/sim/protocol.c test/scenario/option.c test/scenario/vocabulary.c)
DEMO_SERVER_OBJECTS := $(call objects,test/e2e/demo-server.c)
HARNESS_OBJECTS := $(call objects,test/suites.c test/folder.c $(addprefix test/e2e/,harness.c hide.c process.c client.c))
STRESS_OBJECTS := $(call objects,test/e2e/load.c test/e2e/stress*.c)
E2E_OBJECTS := $(filter-out $(DEMO_SERVER_OBJECTS) $(STRESS_OBJECTS) $(B)/obj/test/e2e/clock-shift.o $(B)/obj/test/e2e/slow-start.o,$(call objects,test/suites.c test/needs.c test/folder.c test/e2e/*.c))
BENCH_OBJECTS := $(call objects,$(addprefix test/bench/,main.c load.c beside.c) test/e2e/process.c test/folder.c)
BENCH_SERVER_OBJECTS := $(call objects,test/bench/server.c)
BENCH_RELAY_OBJECTS := $(call objects,test/bench/relay.c)
BENCH_SCALE_OBJECTS := $(call objects,test/bench/scale.c)
FUZZ_OBJECTS := $(call objects,test/fuzz/*.c)
FUZZ_NAMES := $(filter-out every replay,$(notdir $(basename $(wildcard test/fuzz/*.c))))
FUZZ_NEEDS := $(call objects,test/golden.c test/folder.c) $(CTL_OBJECTS) $(B)/libshell.a $(B)/libcanceld.a
ALL_OBJECTS := $(CORE_OBJECTS) $(SHELL_OBJECTS) $(CTL_OBJECTS) $(MAIN_OBJECTS) $(UNIT_OBJECTS) $(SCENARIO_OBJECTS) \
	$(SIM_OBJECTS) $(EXPLORE_OBJECTS) $(DEMO_SERVER_OBJECTS) $(E2E_OBJECTS) $(STRESS_OBJECTS) $(FUZZ_OBJECTS) \
	$(BENCH_OBJECTS) $(BENCH_SERVER_OBJECTS) $(BENCH_RELAY_OBJECTS) $(BENCH_SCALE_OBJECTS)
REPLAYS := $(FUZZ_NAMES:%=$(B)/replay-%)
BENCH_PROGRAMS := $(addprefix $(B)/,bench bench-server bench-relay bench-scale)
TEST_PROGRAMS := $(addprefix $(B)/,test-canceld scenario sim explore every e2e stress demo-server) $(REPLAYS) $(BENCH_PROGRAMS)
PROGRAMS := $(addprefix $(B)/,canceld cancelctl)
MANUALS := $(wildcard man/*.[157])
COMPLETION_FILES := $(if $(filter no,$(COMPLETIONS)),,$(wildcard src/completions/*))

.PHONY: all tests
all: $(PROGRAMS)
	$(if $(filter-out all,$(MAKECMDGOALS)),,@echo 'Built: $(PROGRAMS). make install puts them into $(BINDIR).')

tests: all $(TEST_PROGRAMS)

$(B)/cancelctl $(filter-out $(BENCH_PROGRAMS),$(TEST_PROGRAMS)): PROGRAM_LDFLAGS += $(NO_LTO)
$(BENCH_OBJECTS) $(BENCH_SERVER_OBJECTS) $(BENCH_RELAY_OBJECTS) $(BENCH_SCALE_OBJECTS): NO_LTO =

ifeq ($(VARIANT),cov)
$(PROGRAMS) $(TEST_PROGRAMS): $(B)/obj/test/cov/dump.o
$(B)/obj/test/cov/dump.o: COMPILE_FLAGS += -DCOUNTS='"$(abspath $(B)/obj)"'
endif

$(B)/libcanceld.a: $(CORE_OBJECTS)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

# Both programs take what they need of it.
$(B)/libshell.a: $(SHELL_OBJECTS)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^

$(B)/canceld: $(B)/obj/src/canceld.o $(B)/libshell.a $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(EV_LIBS) $(JANSSON_LIBS)

$(B)/cancelctl: $(B)/obj/src/cancelctl.o $(CTL_OBJECTS) $(B)/libshell.a $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(EV_LIBS) $(JANSSON_LIBS)

$(B)/test-canceld: $(UNIT_OBJECTS) $(CTL_OBJECTS) $(B)/libshell.a $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(EV_LIBS) $(JANSSON_LIBS) $(CHECK_LIBS)

$(B)/scenario: $(SCENARIO_OBJECTS) $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS)

$(B)/sim: $(SIM_OBJECTS) $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS) -lm

$(B)/explore: $(EXPLORE_OBJECTS) $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS)

# forkpty is in libutil, and threads in libpthread, where glibc is older than 2.34.
$(B)/e2e: $(E2E_OBJECTS) $(B)/libshell.a $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS) $(CHECK_LIBS) $(EV_LIBS) -lutil -pthread

$(B)/stress: $(STRESS_OBJECTS) $(HARNESS_OBJECTS)
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS) $(CHECK_LIBS) -pthread

# No sanitizer: it is loaded before theirs.
$(B)/clock-shift.so: test/e2e/clock-shift.c test/e2e/clock-shift.h
$(B)/slow-start.so: test/e2e/slow-start.c
$(B)/nth.so: test/tools/nth.c
$(B)/clock-shift.so $(B)/slow-start.so $(B)/nth.so:
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -fPIC -shared -o $@ $<

$(B)/demo-server: $(DEMO_SERVER_OBJECTS)
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS)

$(B)/bench: $(BENCH_OBJECTS)
	$(call say,LINK)$(LINK) $^

$(B)/bench-server: $(BENCH_SERVER_OBJECTS)
	$(call say,LINK)$(LINK) $^

$(B)/bench-relay: $(BENCH_RELAY_OBJECTS)
	$(call say,LINK)$(LINK) $^

$(B)/bench-scale: $(BENCH_SCALE_OBJECTS) $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^

$(REPLAYS): $(B)/replay-%: $(B)/obj/test/fuzz/%.o $(B)/obj/test/fuzz/replay.o $(FUZZ_NEEDS)
	$(call say,LINK)$(LINK) $^ $(EV_LIBS) $(JANSSON_LIBS)

$(B)/every: $(addprefix $(B)/obj/test/,fuzz/scan.o fuzz/every.o golden.o) $(B)/libcanceld.a
	$(call say,LINK)$(LINK) $^ $(JANSSON_LIBS)

$(FUZZ_NAMES:%=$(B)/fuzz-%): PROGRAM_LDFLAGS = -fsanitize=fuzzer,$(SANITIZERS)
$(FUZZ_NAMES:%=$(B)/fuzz-%): $(B)/fuzz-%: $(B)/obj/test/fuzz/%.o $(FUZZ_NEEDS)
	$(call say,LINK)$(LINK) $^ $(EV_LIBS) $(JANSSON_LIBS)

$(B)/obj/test/%.o: test/%.c $(B)/flags $(B)/test-flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(COMPILE_FLAGS) $(TEST_COMPILE_FLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(COMPILE_FLAGS) -MMD -MP -c -o $@ $<

# These files change with the compiler or a flag, so that objects of two compilers are never mixed. Those of the programs
# stay what they are when Check is installed.
.PHONY: force
define FLAGS_TEXT
$(CC) $(COMPILE_FLAGS)
$(LDFLAGS) $(VARIANT_LDFLAGS)
$(SYSTEM)
endef
$(B)/flags $(B)/test-flags: export TEXT = $(if $(filter %/test-flags,$@),$(TEST_COMPILE_FLAGS),$(FLAGS_TEXT))
$(B)/flags $(B)/test-flags: force
	@mkdir -p $(@D)
	@printf '%s\n' "$$TEXT" | cmp -s - $@ || printf '%s\n' "$$TEXT" >$@

-include $(ALL_OBJECTS:.o=.d)

# Tests

# The time limits of single tests are for hangs: a busy machine must not reach them.
export CK_TIMEOUT_MULTIPLIER ?= 5

# This make has called pkg-config before deps.sh could install anything, so a second make does the work.
.PHONY: check check-run unit scenario sim replay e2e demo demo-run interop
check: deps-build-test
	@$(MAKE) check-run

# One suite more at a time than there are processors, as e2e and matrix mostly wait; the longest first, so that what it
# needs is built first, and the rest beside it.
CHECK_SUITES = e2e unit matrix scenario fillers sim completions replay
CHECK_JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell expr 1 + $$(getconf _NPROCESSORS_ONLN)))
check-run:
	@rm -rf $(B)/check
	@$(MAKE) -k $(CHECK_JOBS) LTO='$(LTO)' $(CHECK_SUITES:%=check-%) || :
	@test/tools/check.sh report $(B)/check '$(CHECK_SUITES)' 'make$(if $(filter release,$(VARIANT)),, VARIANT=$(VARIANT))'

.PHONY: $(CHECK_SUITES:%=check-%)
check-e2e: $(PROGRAMS) $(addprefix $(B)/,e2e demo-server clock-shift.so)
check-unit: $(B)/test-canceld
check-matrix: $(PROGRAMS) $(B)/e2e
check-scenario check-fillers: $(B)/scenario
check-sim: $(B)/sim
check-completions: $(PROGRAMS)
check-replay: $(REPLAYS)
$(CHECK_SUITES:%=check-%): check-%:
	@test/tools/check.sh run $(B)/check $* $(MAKE) $*

# Both commands of README on a fresh machine; needs root's rights.
.PHONY: bare-root
bare-root:
	@test/tools/bare-root.sh $(BUILD)/bare-root

demo: deps-build
	@$(MAKE) demo-run

.PHONY: deps-build deps-build-test
export CC CPPFLAGS LDFLAGS PKG_CONFIG EV_CFLAGS EV_LIBS
deps-build deps-build-test:
	@test/tools/deps.sh $(subst -, ,$(@:deps-%=%))

# What runs a program that was built for another processor.
RUN ?=

unit: $(B)/test-canceld
	$(RUN) $<

scenario: $(B)/scenario
	$(RUN) $< test/scenario

# Each message of the scenarios made long.
.PHONY: fillers
fillers: $(B)/scenario
	$(RUN) $< --fillers test/scenario

sim: $(B)/sim
	$(RUN) $< --seeds $(SEEDS)

# Every order of events of small worlds; EXPLORE=long: of larger ones too.
EXPLORE ?=
.PHONY: explore
explore: $(B)/explore
	$(RUN) $< $(if $(EXPLORE),--$(EXPLORE))

# Every short text of a few alphabets.
.PHONY: every
every: $(B)/every
	$(RUN) $<

replay: $(FUZZ_NAMES:%=replay-%)

.PHONY: $(FUZZ_NAMES:%=replay-%)
$(FUZZ_NAMES:%=replay-%): replay-%: $(B)/replay-%
	@echo $<
	@$(RUN) $< test/fuzz/corpus/$*/*

# E2E_MARK: what is started ends itself soon.
BINARIES = E2E_MARK=make CANCELD='$(abspath $(B)/canceld)' CANCELCTL='$(abspath $(B)/cancelctl)' \
	DEMO_SERVER='$(abspath $(B)/demo-server)' CLOCK_SHIFTER='$(abspath $(B)/clock-shift.so)' LAUNCHER='$(abspath src/package/npm/launcher.js)' VARIANT='$(VARIANT)'

# cancelctl frees nothing before it exits.
e2e: export ASAN_OPTIONS := $(ASAN_OPTIONS):detect_leaks=0
e2e: $(B)/e2e $(PROGRAMS) $(B)/demo-server $(B)/clock-shift.so
	$(BINARIES) $<

# The same, where each server starts late.
.PHONY: slow-starts
slow-starts: $(B)/slow-start.so
	LD_PRELOAD=$(abspath $<) $(MAKE) e2e

# Asks the shells that are installed: bash, zsh, fish.
.PHONY: completions
completions: all
	$(if $(COMPLETION_FILES),test/tools/completions.sh $(B),@echo 'completions: none, as COMPLETIONS = no')

# Every fault in every state, ROUNDS times, with the server started directly and through sh; NPX=1: through npx too.
ROUNDS ?= 1
NPX ?=
.PHONY: matrix
matrix: $(B)/e2e $(B)/canceld
	@$(BINARIES) $< --matrix $(ROUNDS) $(if $(NPX),npx)

# Faults that only much traffic shows: a minute, so not a part of check.
.PHONY: stress
stress: $(B)/stress $(B)/canceld $(B)/demo-server
	@$(BINARIES) $<

# The cost of canceld, relative to a blind relay. BENCH_ARGS='-r 3 "1 MB"': 3 rounds of some rows; '--busy 1': on a busy
# machine.
.PHONY: bench bench-scale
bench: $(BENCH_PROGRAMS) $(B)/canceld
	@HOME='$(abspath $(B))' CANCELD='$(abspath $(B)/canceld)' RELAY='$(abspath $(B)/bench-relay)' SERVER='$(abspath $(B)/bench-server)' \
		$< $(BENCH_ARGS)
	@size $(B)/canceld
	@$(if $(BENCH_ARGS),,$(B)/bench-scale)

# What a message costs while 100,000 requests are outstanding.
bench-scale: $(B)/bench-scale
	$<

# faults needs strace, nth-faults glibc: STEP=8 tries each eighth number only, from a random one on.
STEP ?= 1
.PHONY: torture faults nth-faults
torture: faults nth-faults
faults: $(PROGRAMS) $(B)/demo-server
	@$(BINARIES) test/tools/faults.sh calls
nth-faults: $(PROGRAMS) $(B)/demo-server $(B)/nth.so
	@$(BINARIES) NTH='$(abspath $(B)/nth.so)' test/tools/faults.sh nth $(STEP)

# That a session, its end and cancelctl open nothing in /proc: for VARIANT=portable. Needs strace.
.PHONY: without-proc
without-proc: $(PROGRAMS) $(B)/demo-server
	@$(BINARIES) test/tools/without-proc.sh $(B)

demo-run: $(B)/canceld $(B)/demo-server
	@$(BINARIES) test/e2e/demo.sh

interop: $(PROGRAMS) $(B)/demo-server
	$(BINARIES) test/interop/run

# A server that crashes RESTARTS times during CALLS calls of a real client.
RESTARTS ?= 1000
CALLS ?= 100000
.PHONY: soak
soak: $(B)/canceld $(B)/demo-server
	@$(BINARIES) test/interop/run --soak $(RESTARTS) $(CALLS)

# The history of seven servers that are used for some SECONDS, and what is told from it.
.PHONY: seven
seven: SECONDS := $(if $(filter file,$(origin SECONDS)),60,$(SECONDS))
seven: $(PROGRAMS)
	@$(BINARIES) test/interop/run --seven $(SECONDS)

# Runners of tests that are killed leave nothing.
.PHONY: left-behind
left-behind: tests
	@test/tools/left-behind.sh $(B)

.PHONY: sim-bugs mutants mutants-run valgrind valgrind-run cov cov-run
sim-bugs:
	+MAKE='$(MAKE)' test/sim/bugs.sh

# What is written and decided in thousands of cases, beside that of the commit BASE.
.PHONY: golden
golden:
	+@MAKE='$(MAKE)' BASE='$(BASE)' test/tools/golden.sh

mutants:
	@$(MAKE) VARIANT=mutants mutants-run

mutants-run: $(B)/scenario
	$< --mutants test/scenario

valgrind:
	@$(MAKE) VARIANT=debug valgrind-run

VALGRIND = CK_TIMEOUT_MULTIPLIER=20 valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
valgrind-run: $(B)/test-canceld $(B)/scenario
	$(VALGRIND) $(B)/test-canceld
	$(VALGRIND) $(B)/scenario test/scenario

# The program itself, with its guardian, in the tests of the ends of sessions.
.PHONY: valgrind-e2e
VALGRIND_SUITES = tree sweep guardian ends server-ends early-exits
VALGRIND_E2E = $(BINARIES) CANCELD='$(abspath test/tools/under-valgrind.sh)' VALGRIND_PROGRAM='$(abspath $(B)/canceld)' \
	VALGRIND_REPORTS='$(abspath $(B)/reports)' VARIANT=valgrind E2E_SLACK=4000 CK_TIMEOUT_MULTIPLIER=5
valgrind-e2e: $(B)/e2e $(B)/canceld $(B)/demo-server
	rm -rf $(B)/reports && mkdir -p $(B)/reports
	for suite in $(VALGRIND_SUITES); do CK_RUN_SUITE=$$suite $(VALGRIND_E2E) $(B)/e2e || exit 1; done
	! grep -r '^==' $(B)/reports

cov:
	@find $(BUILD)/cov -name '*.gcda' -exec rm -f {} + 2>/dev/null || :
	@$(MAKE) VARIANT=cov check || echo 'cov: where a test limits the size of files, the counts are cut too'
	@$(MAKE) VARIANT=cov cov-run

# UNTAKEN=1: each branch that was never taken, too.
UNTAKEN ?=
cov-run:
	@$(GCOV) -b -c -t $(CORE_OBJECTS) $(SHELL_OBJECTS) $(CTL_OBJECTS) $(MAIN_OBJECTS) 2>/dev/null | \
		awk $(if $(UNTAKEN),-v list=1) -f test/tools/cov.awk

.PHONY: fuzz $(FUZZ_NAMES:%=fuzz-%) $(FUZZ_NAMES:%=fuzz-run-%)
fuzz:
	@echo 'make fuzz-NAME [SECONDS=600] [FUZZ_CC=clang] [FUZZ_ARGS=...], NAME one of: $(FUZZ_NAMES)'
	@echo 'Inputs that fail are left in $(BUILD)/fuzz/NAME/; new ones worth keeping go to test/fuzz/corpus/NAME/.'

$(FUZZ_NAMES:%=fuzz-%): fuzz-%:
	@$(MAKE) VARIANT=fuzz CC='$(FUZZ_CC)' fuzz-run-$*

$(FUZZ_NAMES:%=fuzz-run-%): fuzz-run-%: $(B)/fuzz-%
	@mkdir -p $(B)/$*/corpus
	cp test/fuzz/corpus/$*/* $(B)/$*/corpus/
	$< -max_total_time=$(SECONDS) -timeout=10 -print_final_stats=1 -artifact_prefix=$(B)/$*/ \
		$(addprefix -dict=,$(wildcard test/fuzz/$*.dict)) $(FUZZ_ARGS) $(B)/$*/corpus

# House rules

.PHONY: floors floors-run lint format weight weight-check
# Without optimization, as that may add and remove calls.
floors:
	@$(MAKE) VARIANT=debug floors-run

floors-run: $(CORE_OBJECTS) $(SHELL_OBJECTS) $(CTL_OBJECTS) $(MAIN_OBJECTS)
	@CC='$(CC) $(subst ',,$(COMPILE_FLAGS))' test/tools/floors.sh $(B)/obj

lint:
	@test/tools/lint.sh

format:
	@test/tools/format.sh -i

# How much code there is, beside the limits; weight-check fails if one is exceeded.
weight:
	@test/tools/weight.sh

weight-check:
	@test/tools/weight.sh --check

# Installation

.PHONY: install uninstall dist release release-demo deb recipes clean
quoted = '$(subst ','\'',$(1))'

# bash-completion wants the name of the command, zsh one that begins with "_", fish one that ends with ".fish".
page_place = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
shell_place = $(DESTDIR)$(if $(filter %.fish,$(1)),$(FISHDIR),$(ZSHDIR))/$(notdir $(1))
completion_place = $(if $(filter %.bash,$(1)),$(DESTDIR)$(BASHDIR)/$(basename $(notdir $(1))),$(shell_place))

# The empty line ends the command of one file.
define put # mode, file, place
$(call say,INST,$(3))$(INSTALL) -m $(1) $(2) $(call quoted,$(3))

endef
define drop # place
$(call say,RM,$(1))rm -f $(call quoted,$(1))

endef

FOLDERS = $(foreach section,$(sort $(subst .,,$(suffix $(MANUALS)))),$(call quoted,$(DESTDIR)$(MANDIR)/man$(section))) \
	$(call quoted,$(DESTDIR)$(BINDIR))
COMPLETION_FOLDERS = $(foreach shell,BASH ZSH FISH,$(call quoted,$(DESTDIR)$($(shell)DIR)))

# A shell leaves the ~ of PREFIX='~/x', and most that of PREFIX=~/x. Before anything is built.
must_begin = $(error $(1)=$($(1)): it must begin with "/", as PREFIX must; write $$HOME in place of ~)
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(foreach name,BINDIR MANDIR BASHDIR ZSHDIR FISHDIR,$(if $(filter /%,$(firstword $($(name)))),,$(call must_begin,$(name))))
$(if $(filter ~%,$(firstword $(DESTDIR))),$(call must_begin,DESTDIR))
endif

install: all
	@src/package/folders.sh make $(BUILD)/made-folders $(FOLDERS) $(if $(COMPLETION_FILES),$(COMPLETION_FOLDERS))
	$(foreach program,$(PROGRAMS),$(call put,755,$(program),$(DESTDIR)$(BINDIR)/$(notdir $(program))))
	$(foreach page,$(MANUALS),$(call put,644,$(page),$(call page_place,$(page))))
	$(foreach file,$(COMPLETION_FILES),$(call put,644,$(file),$(call completion_place,$(file))))
	$(if $(DESTDIR),,@at=$(call quoted,$(subst //,/,$(BINDIR))); case ":$$PATH:" in (*":$$at:"*) is=is ;; (*) is='is not' ;; esac; \
		echo "canceld and cancelctl are in $$at, which $$is in PATH.")

# Completions too where COMPLETIONS = no: they may be from before that was set.
uninstall:
	$(foreach program,$(PROGRAMS),$(call drop,$(DESTDIR)$(BINDIR)/$(notdir $(program))))
	$(foreach page,$(MANUALS),$(call drop,$(call page_place,$(page))))
	$(foreach file,$(wildcard src/completions/*),$(call drop,$(call completion_place,$(file))))
	@src/package/folders.sh remove $(BUILD)/made-folders $(FOLDERS) $(COMPLETION_FOLDERS)
	@echo 'A server that cancelctl had wrapped starts no more: make install, cancelctl unwrap --all, then make uninstall.'

dist:
	@test/tools/dist.sh canceld-$(VERSION) $(BUILD)

# TARGETS: some of those in src/package/release.sh instead of all.
TARGETS ?=
release:
	+@src/package/release.sh '$(VERSION)' $(TARGETS)

# The archives that are there, unpacked and tried.
release-demo: $(B)/demo-server
	@$(BINARIES) test/tools/release-demo.sh

# Debian's package; needs debhelper.
deb:
	@src/package/deb.sh $(VERSION) $(BUILD)/deb

# For Homebrew and Arch, at a release: URL is where the file of make dist was put, HOMEPAGE the project's page.
recipes: dist
	@src/package/recipes.sh $(VERSION) $(BUILD)/canceld-$(VERSION).tar.gz '$(URL)' '$(HOMEPAGE)' $(BUILD)/recipes

# Of the archives that are there.
.PHONY: npm npm-check
npm:
	@src/package/npm/pack.sh $(VERSION) $(BUILD)/release-files

# The packages, installed and started with Node.js 20 and 22.
npm-check: $(PROGRAMS)
	@$(BINARIES) test/interop/run npm.mjs

clean:
	rm -rf $(BUILD)
