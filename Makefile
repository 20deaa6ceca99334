# make help lists the targets. Nothing needs to be installed but Go and make:
# linters are built from the module in tools/.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-print-directory
GO          ?= go

# What `make ci` runs, in this order.
CI_STEPS := lint race worlds swarm twin mutants explore real

# Packages that live under simulation, where detlint allows no clock, goroutine,
# chance or map order; and the files of engine that do.
DET_PACKAGES := store store/memory store/rules history engine/pump checker sim sim/finding sim/shrink sim/swarm sim/travel
DET_ENGINE   := ^(shell|result)

# Packages where goroutines live; and the tests of bwsim that make runs at once.
RACE_PACKAGES := clockx engine engine/enginetest sim/bubble sim/simtest store/memory cmd/bwworker
RACE_BWSIM    := AtOnce|EachTime|Interrupt|Swarm|Twin|Odds|Checkpoint|Hunt

# Random worlds of worlds, plans of swarm, random worlds of twin; random worlds, twins, and cases of each rapid test, of long.
WORLDS      ?= 1000
GUIDED      ?= 3000
SEEDS       ?= 200
LONG_SEEDS  ?= 50000
LONG_TWINS  ?= 10000
LONG_CHECKS ?= 50000
LONG_SQL_CHECKS ?= 500

# Packages named above that exist, as patterns of the go command.
there = $(foreach p,$(1),$(if $(wildcard $(p)/*.go $(p)/*/*.go),./$(p)$(2)))
# Directories of the tests that hold a text, an extended regular expression.
tests_with = $$({ grep -rlE --include='*_test.go' --exclude-dir=tools --exclude-dir=testdata '$(1)' . || true; } | xargs -r -n1 dirname | sort -u)
# The linters, built on first use and kept in Go's build cache.
tool = "$$($(GO) -C '$(CURDIR)/tools' tool -n $(1))"

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## compile the programs into bin/
	$(GO) build -o bin/ ./cmd/...

.PHONY: test
test: ## run the tests of the module, of its tools, of its benchmarks, and of pages in a browser
	$(GO) test ./...
	$(GO) -C tools test ./...
	$(GO) -C bench test ./...
	$(GO) -C browsertest test ./...

.PHONY: ci
ci: ## run what the tests leave out, timed: the steps named in CI_STEPS
	@for step in $(CI_STEPS); do \
		echo "== make $$step"; start=$$SECONDS; \
		$(MAKE) $$step || { echo "== make $$step: failed after $$((SECONDS - start)) s"; exit 1; }; \
		echo "== make $$step: $$((SECONDS - start)) s"; \
	done

.PHONY: lint
lint: golangci detlint vet tidy ## check format, style, arrows, determinism, go vet and go.mod

.PHONY: golangci
golangci:
	$(call tool,golangci-lint) run ./...
	cd tools && $(call tool,golangci-lint) run --config ../.golangci.yml ./...
	cd bench && $(call tool,golangci-lint) run --config ../.golangci.yml ./...
	cd browsertest && $(call tool,golangci-lint) run --config ../.golangci.yml ./...

.PHONY: detlint
detlint:
	$(call tool,detlint) $(call there,$(DET_PACKAGES))
	$(if $(wildcard engine/*.go),$(call tool,detlint) -files '$(DET_ENGINE)' ./engine)

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) -C tools vet ./...
	$(GO) -C bench vet ./...
	$(GO) -C browsertest vet ./...

.PHONY: tidy
tidy:
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C bench mod tidy -diff
	$(GO) -C browsertest mod tidy -diff

.PHONY: fmt
fmt: ## format the code
	$(call tool,golangci-lint) fmt ./...
	cd tools && $(call tool,golangci-lint) fmt --config ../.golangci.yml ./...
	cd bench && $(call tool,golangci-lint) fmt --config ../.golangci.yml ./...
	cd browsertest && $(call tool,golangci-lint) fmt --config ../.golangci.yml ./...

.PHONY: race
race: ## run the tests of the packages with goroutines under the race detector
	$(GO) test -race $(call there,$(RACE_PACKAGES))
	$(GO) test -race ./cmd/bwsim -run '$(RACE_BWSIM)'

.PHONY: worlds
worlds: ## play every scenario and many random worlds, and judge them
	$(GO) run ./cmd/bwsim run --quiet
	$(GO) run ./cmd/bwsim run --random --seeds $(WORLDS) --quiet --min-decided 70

.PHONY: swarm
swarm: ## search until everything on the must list is reached
	$(GO) run ./cmd/bwsim swarm --guided --seeds $(GUIDED) --must

.PHONY: twin
twin: ## run every scenario and SEEDS random worlds twice, in unlike processes, and compare
	$(GO) run ./cmd/bwsim run --twin --quiet
	$(GO) run ./cmd/bwsim run --random --seeds $(SEEDS) --twin --quiet

.PHONY: mutants
mutants: ## plant every bug and see that the checker catches it, and that no kind of fault is in vain
	$(GO) run ./cmd/bwsim mutants --starts 1
	$(GO) run ./cmd/bwsim mutants --faults --seeds 200

.PHONY: long-mutants
long-mutants: ## the same from five first seeds, as docs/mutants.md shows it
	$(GO) run ./cmd/bwsim mutants --starts 5 --format markdown
	$(GO) run ./cmd/bwsim mutants --faults --seeds 3000 --format markdown

.PHONY: mutants-surroundings
mutants-surroundings: ## plant bugs in what no simulated world runs, and see that the tests of sim/bubble catch each
	$(GO) run ./cmd/bwsim mutants --surroundings --seeds 520

.PHONY: explore
explore: ## visit every state of the small worlds: one fault, or two of a few kinds
	$(GO) run ./cmd/bwsim explore one-fault fused pool batch release finish cancel timeout refused

.PHONY: real
real: ## harm real workers on PostgreSQL and on SQLite, side by side, a minute in all
	$(GO) build -o bin/ ./cmd/bwsim
	bin/bwsim real --store sqlite --for 20s & sqlite=$$!; code=0; \
	bin/bwsim real --for 40s || code=$$?; \
	wait $$sqlite || code=$$?; exit $$code

.PHONY: long-real
long-real: ## the same for longer, then every bug that is planted in the PostgreSQL store
	$(GO) build -o bin/ ./cmd/bwsim
	bin/bwsim real --for 10m
	bin/bwsim real --for 5m --store sqlite
	bin/bwsim real --mutants

# Our own golden tests have Golden in their names and a flag -update; those of
# datadriven are renewed by its flag -rewrite.
.PHONY: golden
golden: ## renew the golden files; read the diff before you commit it
	@own=$(call tests_with,flag[.]Bool.["]update["]); \
	driven=$(call tests_with,^[[:space:]]+"github[.]com/cockroachdb/datadriven"$$); \
	[ -z "$$own" ] || $(GO) test $$own -run Golden -count=1 -update; \
	[ -z "$$driven" ] || $(GO) test $$driven -count=1 -rewrite

.PHONY: bench
bench: ## measure beside River, graphile-worker and pg-boss on PostgreSQL, too short for figures
	$(GO) -C bench run . all --jobs 400 --for 3s --big 20000 --runs 1

.PHONY: bench-long
bench-long: ## the same as docs/benchmarks.md has it, about an hour; leave the machine alone meanwhile
	$(GO) -C bench run . all --format markdown --save results.jsonl

.PHONY: bench-sim
bench-sim: ## measure the simulator on one core, with the heap setting of bwsim
	GOGC=400 $(GO) test ./sim/... -run '^$$' -bench . -benchmem -cpu 1

.PHONY: long
long: ## search for long: random worlds, twins, rapid tests; put the results into docs/long-results.md
	$(GO) run ./cmd/bwsim run --random --seed 100001 --seeds $(LONG_SEEDS) --quiet --min-decided 70
	$(GO) run ./cmd/bwsim run --random --seed 500000 --seeds $(LONG_TWINS) --quiet --twin
	$(GO) test ./checker ./clockx ./engine/pump ./history ./sim/... ./store/memory -count=1 -timeout 0 -rapid.checks=$(LONG_CHECKS)
	$(GO) test ./store/sqlite ./store/postgres -count=1 -timeout 0 -rapid.checks=$(LONG_SQL_CHECKS)
	$(GO) test ./store/postgres -run Crowd -count=1 -crowd 60s
	$(MAKE) long-explore
	$(MAKE) long-mutants
	$(MAKE) mutants-surroundings
	$(MAKE) long-pgbouncer

.PHONY: long-explore
long-explore: ## visit every state of the big worlds, and find the planted bugs without a seed
	$(GO) run ./cmd/bwsim explore two-jobs two-faults-fused two-faults
	$(GO) run ./cmd/bwsim explore --mutants --at-least 45

.PHONY: long-pgbouncer
long-pgbouncer: ## run the contract of stores through a PgBouncer, which must be installed
	BW_TEST_PGBOUNCER=1 $(GO) test ./store/postgres -run ThroughPgBouncer -count=1 -timeout 30m
