# What this repository can do, as a list. `make` prints it.
# SETUP=no skips the installation of programs, VERSION=1.2.3 names the build.

SHELL := /bin/bash

GOLANGCI_VERSION := 2.15.0
GOLANGCI := bin/golangci-lint-$(GOLANGCI_VERSION)

VERSION ?= $(or $(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null)),0.1.0-dev)
REVISION ?= $(or $(shell git rev-parse --short HEAD 2>/dev/null),unknown)
VERSION_PACKAGE := github.com/prometheus/common/version
LDFLAGS := -s -w -X $(VERSION_PACKAGE).Version=$(VERSION) -X $(VERSION_PACKAGE).Revision=$(REVISION)

# A missing server or tool fails these tests instead of skipping them.
TEST := TEST_KEYHEALTH_REQUIRE=1 TEST_KEYHEALTH_CHAOS=2m go test -race -timeout 20m

.DEFAULT_GOAL := help
.PHONY: setup fmt vet lint test race rules smoke bench stats property compare chaos build image docs clean help

setup: ## install what the tests need and the machine lacks (Debian, Ubuntu)
	@if [ "$(SETUP)" != no ]; then .ci/setup.sh; fi

fmt: ## format the Go files
	gofmt -s -w .

vet: ## go vet
	go vet ./...
	cd dashboards/generate && go vet ./...
	cd bench && go vet ./...

lint: $(GOLANGCI) ## the linters of .golangci.yml
	$(GOLANGCI) run ./...
	cd dashboards/generate && ../../$(GOLANGCI) run --config ../../.golangci.yml ./...
	cd bench && ../$(GOLANGCI) run --config ../.golangci.yml ./...

test: setup ## every test, with the race detector, against real servers
	$(TEST) ./...
	cd dashboards/generate && go test ./...

race: setup ## every test three times in random order, to shake out races
	$(TEST) -shuffle on -count 3 ./...

rules: setup ## check and test the alert rules
	promtool check rules --lint-fatal alerts/*.rules.yml
	promtool test rules alerts/*_test.yml

smoke: setup ## the binary against real servers that fail in every way, and hostile names
	$(TEST) -run 'Failures|Redis|Hostile' ./internal/exportertest

bench: ## the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

stats: setup ## how often the intervals hold, on real servers: 40 minutes, the figures of docs/statistics.md
	TEST_KEYHEALTH_REQUIRE=1 TEST_KEYHEALTH_STATS=1 go test -count 1 -timeout 4h -v -p 1 -run '^TestStats' ./collector/sweep ./collector

property: setup ## 100,000 steps of the limiter's property test on each server
	TEST_KEYHEALTH_REQUIRE=1 TEST_KEYHEALTH_STEPS=100000 go test -count 1 -timeout 30m -run Property -v ./limiter

compare: setup ## the limiter beside redis_rate, throttled and ulule/limiter
	cd bench && go test -count 1 -v -each 2s -rounds 5 .

chaos: setup ## a Cluster to which everything happens for half an hour; make test does it for two minutes
	TEST_KEYHEALTH_REQUIRE=1 TEST_KEYHEALTH_CHAOS=30m go test -count 1 -timeout 1h -v -run '^TestChaos$$' ./collector

build: ## the binary, as ./keyhealth
	go build -trimpath -ldflags '$(LDFLAGS)' -o keyhealth ./cmd/exporter

image: ## the container image, by docker
	docker build --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) -t keyhealth .

docs: setup ## write the golden files and the generated pages anew
	go test ./collector ./cmd/exporter -update
	go test -run TestFailures ./internal/exportertest -update
	go test -count 1 -timeout 15m -run 'OperatorRules|Incidents' ./alerts ./internal/incident -update
	cd dashboards/generate && go run .

clean: ## remove what was built here
	rm -rf bin dist keyhealth *.out *.prof *.test coverage.txt

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-8s %s\n' "$$name" "$$text"; done

# Built from the module proxy, a minute and a half the first time.
$(GOLANGCI):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@
