# Two commands matter: `make run` measures this host and reports, `make test` holds the project.
MODULE    := $(shell go list -m)
GOLANGCI  := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
SHELL     := /bin/bash
export PATH := $(CURDIR)/bin/tools/usr/sbin:$(CURDIR)/bin/tools/usr/bin:$(PATH):/usr/sbin:/sbin
FUZZTIME  ?= 10s
BENCH     ?= .
COUNT     ?= 1

.PHONY: help run build test lab lint fuzz corpus bench bench-peers need rename clean

help: ## this text
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## measure this host against its own peers, replay, report (under two minutes)
	./bin/tickmark run

build: ## bin/tickmark
	go build -o bin/tickmark ./cmd/tickmark

test: need ## everything that must hold; installs the servers it tests against, or says what it skips
	go vet ./...
	@mkdir -p bin; set -o pipefail; \
	go test -race -shuffle=on -timeout 30m -v ./... 2>&1 | tee bin/test.log | awk ' \
	  /^(ok|FAIL|panic:)/ { print; fflush() } \
	  /^ +[^ ]+\.go:[0-9]+: / { why = $$0; sub(/^ +[^ ]+ /, "", why) } \
	  /^ *--- SKIP: / { print "skipped " $$3 ": " why; fflush() }' \
	|| { grep -v '^=== \|--- PASS' bin/test.log | tail -n 400; exit 1; }

need:
	@.ci/need 'chronyd:chrony!' 'ptp4l:linuxptp!' 'ntpd:ntpsec!' 'ntpdig:ntpsec-ntpdig!' \
	  'lib/python3/dist-packages/ntp:python3-ntp!' 'lib/python3/dist-packages/scapy:python3-scapy!' 'lib/*/faketime/libfaketime.so.1:libfaketime!' bin/python3:python3 \
	  'nginx:nginx!' 'redis-check-rdb:redis-tools!' 'redis-server:redis-server!' 'dnsmasq:dnsmasq-base!' 'lib/postgresql/*/bin/postgres:postgresql-N!' \
	  ip:iproute2 ethtool:ethtool setpriv:util-linux dbus-daemon:dbus-daemon!
	@mkdir -p bin; go build -C datasets/testdata/outside -o $(CURDIR)/bin/outside . 2>bin/outside.log || echo "skipped: Parquet as DuckDB and arrow-go read it: bin/outside could not be built: $$(tail -n 1 bin/outside.log)"

lab: build ## the probes on NICs with clocks of their own, emulated: 2 minutes; skips where packages cannot be had
	@mkdir -p bin/lab; CGO_ENABLED=0 go build -o bin/lab/tickmark ./cmd/tickmark && CGO_ENABLED=0 go test -c -o bin/lab/nic.test ./probes/nic && CGO_ENABLED=0 go test -c -o bin/lab/probes.test ./probes && \
	go build -o bin/lab/lab ./probes/testdata/lab && { bin/lab/lab probes/testdata/lab/scenario.sh bin/lab/tickmark bin/lab/nic.test bin/lab/probes.test || [ $$? = 69 ]; }

lint: ## golangci-lint, as configured in .golangci.yml
	go run $(GOLANGCI) run ./...

fuzz: ## each fuzz target for FUZZTIME (10s)
	@go list ./... | while read -r p; do \
	  go test -list '^Fuzz' $$p | grep '^Fuzz' | while read -r f; do \
	    echo "fuzz $$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$p </dev/null || exit 1; \
	  done || exit 1; done

corpus: ## what the readers make of a folder of real files (TICKMARK_CORPUS): kind, files, checks
	@TICKMARK_CORPUS=$${TICKMARK_CORPUS:-$(abspath ../shared/corpus)} go test -count 1 -v -run '^Test(Corpus|.*OfTheCorpus)' ./datasets/... >bin/corpus.log 2>&1; code=$$?; \
	awk -F '[ /]+' '/^ +--- (PASS|FAIL|SKIP): TestCorpus/ { kind = $$5; sub(/:$$/, "", kind) ; n[kind]++; if ($$3 == "PASS:") ok[kind]++; if ($$4 == "TestCorpusIsRecognised") files[kind]++ } \
	  / refused: / { r++ } \
	  END { printf "%-18s %6s %7s %7s\n", "kind", "files", "checks", "held"; for (k in n) printf "%-18s %6d %7d %7d\n", k, files[k], n[k], ok[k] | "sort"; close("sort"); printf "%d files are refused, each with its reason: grep refused bin/corpus.log\n", r }' bin/corpus.log; \
	grep -E '^ *--- FAIL' bin/corpus.log; exit $$code

bench: ## every benchmark, in the form benchstat reads (COUNT=10 for intervals)
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 60m ./...

bench-peers: need ## our probes beside ntpdig, chronyd -Q, ntpcheck, beevik/ntp; irtt, fping, sockperf; Parquet beside DuckDB and arrow-go; 13 minutes
	@.ci/need 'irtt:irtt!' 'fping:fping!' 'sockperf:sockperf!'
	TICKMARK_BENCH_PEERS=30s TICKMARK_BENCH_PAIRS=10000000 go test -count 1 -timeout 40m -v -run 'TestLabBeside|TestLabStampsArePaired' ./probes
	TICKMARK_BENCH_PEERS=1 go test -count 1 -v -run 'Beside' ./datasets

rename: ## make rename NAME=example.org/x: another module path, everywhere
	@test -n "$(NAME)" || { echo "rename: want NAME=example.org/x"; exit 2; }
	go mod edit -module $(NAME)
	git ls-files -z -- '*.go' .golangci.yml README.md Makefile | xargs -0 sed -i 's#$(MODULE)#$(NAME)#g'

clean: ## what build and run left
	rm -rf bin tickmark-run-*
