# Everything that this project does from the command line. Tools are built from the versions pinned in hack/tools.

ROOT := $(CURDIR)
BIN := $(ROOT)/bin
DIST := dist
# VERSION is the next release: of the bundle, and of the images that it names.
VERSION ?= 0.1.0
# STAMP is what a program built here calls itself. Without --abbrev, how long a commit's name is would depend on the clone.
STAMP ?= $(shell git describe --tags --always --abbrev=12 --dirty 2>/dev/null || echo dev)
# REGISTRY is where images are, and where a release is pushed.
REGISTRY ?= ghcr.io/etcdpilot
# IMG is the operator's image, to build, to push and to install.
IMG ?= $(REGISTRY)/etcd-operator:v$(VERSION)
# PLATFORMS that IMG is built for.
ALL_PLATFORMS := linux/amd64,linux/arm64,linux/ppc64le,linux/s390x
PLATFORMS ?= $(ALL_PLATFORMS)
# PLUGIN_PLATFORMS that kubectl's plugin is built for.
ALL_PLUGIN_PLATFORMS := linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64
PLUGIN_PLATFORMS ?= $(ALL_PLUGIN_PLATFORMS)
# GO_IMAGE is what docker builds the programs with. A release names it by digest: golang:1.26.8@sha256:...
GO_IMAGE ?= golang:1.26
# CLIENT_IMG is the test client's image, to build, to push, and for a demo on a cluster other than the lab.
CLIENT_IMG ?=
# SCORECARD_IMG is the image of our own scorecard tests.
SCORECARD_IMG ?= $(REGISTRY)/etcd-operator-scorecard:v$(VERSION)
KUBECTL ?= kubectl
CONTAINER_TOOL ?= docker
NODES ?= 3
# STORIES selects user stories by a regular expression.
STORIES ?= .
# CLUSTERS are the numbers of simulated clusters, one round each, for bench-scale.
CLUSTERS ?= 1,10,100,1000
# SCALE_FLAGS are more flags for bench-scale: -tls has the clusters use TLS, -scrape 15s the operator's metrics scraped that
# often, and -autopilot Off,On the operator left alone in each of these modes of Auto Pilot.
SCALE_FLAGS ?=
# SIZES are those of the database, in GiB, for bench-backup.
SIZES ?= 0.1,1,4
# FAULTS selects, for test-faults, what TestFaults breaks, as family/name, by a regular expression.
FAULTS ?= .
# FAULT_STORIES are the tests that test-faults runs: TestFaults, with a table of what each fault cost, and TestBackupFaults, of
# which FAULTS selects nothing.
FAULT_STORIES ?= Test(Backup)?Faults

# SECURITY_STORIES are those that test-security tells: they take too long to gate a change.
SECURITY_STORIES := Auth|Users|CertManager|StaticTLS|SwitchTLS|SwitchTurnsBack|PlaintextClients|Isolation|ImagesByDigest|TLSAuthorities|TLSBackup|TLSExpired|TLSVersions|NetworkPolicies|SomeNamespaces
# OBSERVABILITY_STORIES are those that test-observability tells, for the same reason.
OBSERVABILITY_STORIES := Prometheus|PluginActs|Alerts
# AUTOPILOT_STORIES are those that test-autopilot tells: history is given up after five minutes, and members are compared every five.
AUTOPILOT_STORIES := NoSpace|NoSpaceLeft|AutopilotModes|Defragment|DefragmentHeld|DefragmentWithoutWindow|GrowQuota|QuotaReached|GrowVolume|FollowPatches|PatchRefused|PatchFailsLater|PatchNotPulled|Relocate|RelocateHeld|Resize|ResizeHeld|ResizeLess|GrowVolumeByReplacement|HibernateLater|HibernateRestored|LargeDefragment|LargeRecovery|Quiet|Autoscaler|AutopilotDiverged|AutopilotDivergedUnclear|AutopilotCorrupt|RecoveryUnwanted|Anomaly|TimersAdvised|Waits
# MIGRATE_STORIES are those that test-migrate tells: they show a document's commands, and take minutes.
MIGRATE_STORIES := MigrateFromStatefulSet|MigrateWithPassword|MigrateWithTLS|Readme

# ETCD_VERSION is what clusters run that name no version, for test-autopilot; the operator's default if empty. Of a list, such as 3.5.35,3.7.3,
# stories are told of each, and what else they need runs the first.
ETCD_VERSION ?=
# AT_ONCE is how many stories test-autopilot tells at the same time.
AT_ONCE ?= $(words 1 $(or $(call each,$(ETCD_VERSION)),2))
# STORY_TABLE=file has each story append a row of a table to that file: what it was told of, when, for how long, and what its clients saw.
# QUIET is for how long clusters in which nothing is due are left alone, by the clock of what Auto Pilot samples: a night takes a quarter of an hour.
QUIET ?= 6h

# FROM is the commit that test-upgrade upgrades from.
FROM ?=

# SEED chooses what the soak does, and after MINUTES it begins nothing more. Seed 4 has backups, a restore and edits among its first
# waves.
SEED ?= 4
MINUTES ?= 5

# BESIDE are the targets that test-unit makes at the same time.
BESIDE := test-explored test-rest

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
ifeq ($(filter output-sync,$(.FEATURES)),)
$(error this needs GNU make 4: earlier ones go on where a recipe has failed. On macOS: brew install make, and call it gmake)
endif
.DEFAULT_GOAL := help
ifneq ($(MAKECMDGOALS),$(BESIDE))
.NOTPARALLEL:
endif

LAB := go run -C $(ROOT)/test/lab ./cmd/lab
# tool builds a pinned program if needed and gives its path. It takes neither the lab nor root.
tool = "$$(go run -C $(ROOT)/hack/tool . $(1))"
# Go keeps what it has compiled by the flags that it was compiled with. With the same ones for programs, linter and tests
# each package is compiled once, and once more for the race detector. -trimpath leaves out the paths of this machine,
# -dwarf=false what only a debugger wants, and grpcnotrace gRPC's tracing, so that the linker can leave out what is never
# called, a third of member-run. -vet=off because the linter vets tests and all: go test would do it once more, and compile
# packages for that.
export CGO_ENABLED := 0
# -buildvcs=false leaves the commit out of the programs: STAMP says which it is, and a clone gives the same as an archive.
FLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false -tags=grpcnotrace -vet=off
export GOFLAGS := $(strip $(filter-out $(FLAGS),$(shell go env GOFLAGS 2>/dev/null)) $(FLAGS))
LDFLAGS := -s -w -X github.com/etcdpilot/etcd-operator/internal/version.Operator=$(STAMP)
MODULES := . hack/tool hack/release test/lab test test/certmanager
# EXPLORED holds the explorer, which says how many states it visited.
EXPLORED := ./internal/plan
# Packages of which several parts run at the same time, for the race detector. Of internal/snapshot it has the tests of the
# queue between etcd and the storage, which the agent's fill and overfill at no speed but their own: SPOOLED. The rest of that
# package moves gigabytes, which would take minutes, and what else it starts runs in the agent's tests. The others start nothing,
# and the explorer is slow enough.
CONCURRENT := ./controllers/... ./internal/agent/... ./internal/blobstore/... ./internal/etcd
SPOOLED := -run 'Queue|Spool' ./internal/snapshot
# Tests of ./controllers/etcdcluster that make thousands of passes, one after the other: in worlds of the explorer, and over the minutes of a
# switch. They start no goroutine of their own, and take up to seven times as long with the race detector.
MODELED := ^Test(ExploredRecords|SwitchTellsApplicationsFirst)$$

# A tag made from the content, so that a node never runs an older build from its own store. They are expanded in
# recipes, after the programs were built.
content = $(shell cat $(1) | sha256sum | cut -c1-12)
# programs are those of the operator's image, in the folder $(1).
programs = $(1)/manager $(1)/agent $(1)/member-run
LAB_IMG = etcd-operator.local/etcd-operator:$(call content,$(call programs,$(BIN)))
LAB_CLIENT_IMG = etcd-operator.local/test-client:$(call content,$(BIN)/test-client)
# The same operator once more, built with another STAMP, for test-olm: it plays the version before this one.
LAB_PREVIOUS_IMG = etcd-operator.local/etcd-operator:$(call content,$(call programs,$(BIN)/previous))
LAB_SCORECARD_IMG = etcd-operator.local/scorecard:$(call content,$(BIN)/scorecard-etcd)

# operator-image is what the Dockerfile's last stage makes of the programs in the folder $(1); a test compares the two.
operator-image = --user 65532:65532 --entrypoint /manager \
	--file $(1)/manager:/manager --file $(1)/agent:/agent --file $(1)/member-run:/member-run \
	--file $(ROOT)/LICENSE:/licenses/LICENSE --file $(ROOT)/third-party-licenses.txt:/licenses/third-party-licenses.txt \
	--label org.opencontainers.image.title=etcd-operator \
	--label org.opencontainers.image.licenses=Apache-2.0 \
	--label org.opencontainers.image.source=https://github.com/etcdpilot/etcd-operator \
	--label org.opencontainers.image.version=$(STAMP)

# scorecard-image is what test/e2e/scorecard/Dockerfile makes of the program in the folder $(1).
scorecard-image = --user 65532:65532 --entrypoint /usr/local/bin/scorecard-etcd \
	--file $(1)/scorecard-etcd:/usr/local/bin/scorecard-etcd

##@ General

.PHONY: help
help: ## Show this text
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*##/ {printf "  %-16s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Build

CONTROLLER_GEN_ARGS := object crd rbac:roleName=manager-role paths="./api/..." paths="./controllers/..."

# api-docs writes the API's reference.
api-docs = $(call tool,crd-ref-docs) --source-path=api/v1beta2 --config=hack/api-docs.yaml --templates-dir=hack/api-docs --renderer=markdown \
	--log-level=ERROR --output-path

# reasons-docs prints what every reason means.
reasons-docs = go run ./hack/reasons $(addprefix api/v1beta2/conditions,.go _cluster.go _members.go _backup.go _restore.go _storage.go _access.go _autopilot.go)

# metrics-docs prints what every metric means, alert-rules the manifest with the alerts; dashboards writes files into a folder.
metrics-docs = go run ./hack/metrics
alert-rules = go run ./hack/alerts
dashboards = go run ./hack/dashboards

# licenses writes the licenses of all that is compiled into the operator's programs and the plugin, on any platform: the file that is
# committed is of all of them, also where a release is tried for one.
licenses = $(RELEASER) licenses --dir $(ROOT) $(addprefix --package ,. ./cmd/agent ./cmd/member-run ./cmd/kubectl-etcd) \
	--platforms $(ALL_PLATFORMS),$(ALL_PLUGIN_PLATFORMS) --title "What is compiled into the programs of etcd-operator and into kubectl-etcd, and its licenses" \
	--output

.PHONY: generate
generate: ## Generate DeepCopy methods, docs/api.md, docs/metrics.md, docs/reasons.md, the alerts, the dashboards and third-party-licenses.txt
	$(call tool,controller-gen) object paths="./api/..."
	$(api-docs) docs/api.md
	$(reasons-docs) > docs/reasons.md
	$(metrics-docs) > docs/metrics.md
	$(alert-rules) > config/prometheus/base/rules.yaml
	$(dashboards) config/prometheus/dashboards
	$(licenses) $(ROOT)/third-party-licenses.txt

.PHONY: manifests
manifests: ## Generate the CRDs and the manager's role
	$(call tool,controller-gen) crd rbac:roleName=manager-role paths="./api/..." paths="./controllers/..." \
	  output:crd:dir=config/crd/bases output:rbac:dir=config/rbac

.PHONY: build
build: ## Build the operator's programs into bin
	go build -ldflags "$(LDFLAGS)" -o $(BIN)/manager .
	go build -ldflags "$(LDFLAGS)" -o $(BIN)/agent ./cmd/agent
	go build -ldflags "$(LDFLAGS)" -o $(BIN)/member-run ./cmd/member-run

.PHONY: plugin
plugin: ## Build kubectl's plugin into bin: with that folder in PATH, it is "kubectl etcd"
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o $(BIN)/kubectl-etcd ./cmd/kubectl-etcd

.PHONY: build-client
build-client:
	go build -C test/e2e -ldflags "-s -w" -o $(BIN)/test-client ./client

.PHONY: image
image: build build-client lab-up ## Build the images and make them available in the lab
	$(LAB) image --name $(LAB_IMG) $(call operator-image,$(BIN))
	$(LAB) image --name $(LAB_CLIENT_IMG) --user 65532:65532 --entrypoint /client \
	  --file $(BIN)/test-client:/client
	@echo "in the lab: $(LAB_IMG) $(LAB_CLIENT_IMG)"

.PHONY: build-scorecard
build-scorecard: ## Build our own scorecard tests into bin
	go build -C test/e2e -ldflags "-s -w" -o $(BIN)/scorecard-etcd ./scorecard

.PHONY: build-previous
build-previous:
	$(MAKE) build BIN=$(BIN)/previous STAMP=previous

.PHONY: image-olm
image-olm: image build-previous build-scorecard
	$(LAB) image --name $(LAB_PREVIOUS_IMG) $(call operator-image,$(BIN)/previous)
	$(LAB) image --name $(LAB_SCORECARD_IMG) $(call scorecard-image,$(BIN))
	@echo "in the lab: $(LAB_PREVIOUS_IMG) $(LAB_SCORECARD_IMG)"

.PHONY: image-archive
image-archive: build ## Write dist/image.tar, the operator's image for this machine's architecture, without docker
	mkdir -p dist
	$(LAB) image --name $(IMG) --output $(ROOT)/dist/image.tar $(call operator-image,$(BIN))

# sbom-of has $$cyclonedx read a program, with more of its flags.
sbom-of = "$$cyclonedx" bin -json -std -noserial -notimestamp $(2) $(1)

.PHONY: sbom
sbom: build ## Write dist/sbom, which lists the modules in each of the operator's programs
	mkdir -p dist/sbom
	cyclonedx=$(call tool,cyclonedx-gomod); for program in $(notdir $(call programs,$(BIN))); do \
	  $(call sbom-of,$(BIN)/$$program,-version $(STAMP) -output dist/sbom/$$program.cdx.json); \
	done

.PHONY: docker-build
docker-build: ## Build the operator's image IMG
	$(CONTAINER_TOOL) build --build-arg GO_IMAGE=$(GO_IMAGE) --build-arg VERSION=$(STAMP) -t $(IMG) .

.PHONY: docker-push
docker-push: ## Push the image IMG
	$(CONTAINER_TOOL) push $(IMG)

.PHONY: docker-buildx
docker-buildx: ## Build the image IMG for all PLATFORMS, and push it
	$(CONTAINER_TOOL) buildx inspect etcd-operator >/dev/null 2>&1 || $(CONTAINER_TOOL) buildx create --name etcd-operator
	$(CONTAINER_TOOL) buildx build --builder etcd-operator --platform $(PLATFORMS) \
	  --build-arg GO_IMAGE=$(GO_IMAGE) --build-arg VERSION=$(STAMP) -t $(IMG) --push .

.PHONY: build-platforms
build-platforms: ## Compile the operator's programs for all PLATFORMS, to see that it can be done
	for platform in $$(tr , ' ' <<< $(PLATFORMS)); do \
	  echo "==> $$platform"; \
	  GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -ldflags "$(LDFLAGS)" -o /dev/null . ./cmd/...; \
	done

.PHONY: scorecard-build
scorecard-build: ## Build the image of our own scorecard tests SCORECARD_IMG
	$(CONTAINER_TOOL) build --build-arg GO_IMAGE=$(GO_IMAGE) -f test/e2e/scorecard/Dockerfile -t $(SCORECARD_IMG) .

.PHONY: scorecard-push
scorecard-push: ## Push the image SCORECARD_IMG
	$(CONTAINER_TOOL) push $(SCORECARD_IMG)

.PHONY: client-build
client-build: ## Build the test client's image CLIENT_IMG
	$(CONTAINER_TOOL) build --build-arg GO_IMAGE=$(GO_IMAGE) -f test/e2e/client/Dockerfile -t $(CLIENT_IMG) .

.PHONY: client-push
client-push: ## Push the image CLIENT_IMG
	$(CONTAINER_TOOL) push $(CLIENT_IMG)

.PHONY: clean
clean: ## Remove what was built here; the lab and its programs stay
	rm -rf $(BIN) dist

##@ Test

.PHONY: test
test: check-generated lint test-unit test-bundle test-lab soak ## Run all that gates a change

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster, the explorer among them
	@echo "==> unit tests"
	$(MAKE) --jobs=2 --output-sync=target $(BESIDE)

# The other tests look at the clock and often wait: the explorer gets what they leave of the processors.
.PHONY: test-explored
test-explored:
	nice go test -timeout=60m -v $(EXPLORED) | grep -vE '^ *(=== |--- PASS)'

.PHONY: test-rest
test-rest:
	TEST_ASSET_KUBE_APISERVER=$(call tool,kube-apiserver); TEST_ASSET_ETCD=$(call tool,etcd); \
	TEST_ASSET_ETCD35=$(call tool,etcd35/etcd); TEST_ASSET_ETCD37=$(call tool,etcd37/etcd); \
	TEST_ASSET_MINIO=$(call tool,minio); TEST_ASSET_GCS=$(call tool,fake-gcs-server); \
	TEST_ASSET_AZURE=$(call tool,azurite); \
	export TEST_ASSET_KUBE_APISERVER TEST_ASSET_ETCD TEST_ASSET_ETCD35 TEST_ASSET_ETCD37 TEST_ASSET_MINIO TEST_ASSET_GCS TEST_ASSET_AZURE; \
	CGO_ENABLED=1 go test -race -timeout=40m -skip '$(MODELED)' $(CONCURRENT); \
	CGO_ENABLED=1 go test -race $(SPOOLED); \
	go test -run '$(MODELED)' ./controllers/etcdcluster; \
	go test $$(go list ./... | grep -vxF "$$(go list $(CONCURRENT) $(EXPLORED))"); \
	go test -C hack/tool ./...; \
	go test -C hack/release ./...; \
	if [ "$$(uname -s)" = Linux ]; then \
	  go test -C test/lab ./...; \
	  go test -C test $$(cd test && go list ./... | grep -vE '/(stories|olm|install|packaging|reproducible|alerts|site)$$'); \
	fi

# with-api-server are the packages that have tests which start an API server.
with-api-server = $$(grep -rl --include='*_test.go' 'testenv\.Start(' $(1) | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: test-kubernetes
test-kubernetes: ## Run the tests that start an API server with that of the oldest Kubernetes that is supported
	@echo "==> the oldest Kubernetes"
	TEST_ASSET_KUBE_APISERVER=$(call tool,kubernetes-oldest/kube-apiserver); TEST_ASSET_ETCD=$(call tool,etcd); TEST_ASSET_HELM=$(call tool,helm); \
	export TEST_ASSET_KUBE_APISERVER TEST_ASSET_ETCD TEST_ASSET_HELM; \
	"$$TEST_ASSET_KUBE_APISERVER" --version; \
	go test -timeout=40m -skip '$(MODELED)' $(call with-api-server,api cmd controllers internal); \
	go test -C test ./e2e/scorecard; \
	go test -C test -count=1 ./packaging -run '^TestChartOnAServer$$'

# Two stories at a time on every machine, so that it tests the same everywhere.
.PHONY: test-lab
test-lab: image ## Run the user stories on a real Kubernetes, those faults among them that gate a change (STORIES=regexp for some)
	@echo "==> user stories"
	$(on-lab) ALL_STORIES=$(filter .,$(STORIES)) go test -C test/e2e ./stories -run '$(STORIES)' -skip '^Test(BackupFaults|$(SECURITY_STORIES)|$(OBSERVABILITY_STORIES)|$(AUTOPILOT_STORIES)|$(MIGRATE_STORIES))$$' -parallel=2 -count=1 -timeout=60m -v

.PHONY: lab-rights
lab-rights: ## Compare what the operator may do on the lab with what it has done there (SINCE=time, RFC 3339; else since the lab was started)
	go run -C test ./e2e/rights/prove -since '$(SINCE)'

.PHONY: test-security
test-security: image ## Run the longer stories about security on a real Kubernetes: authentication, certificates of users and by cert-manager, backups over TLS, NetworkPolicies, rights in some namespaces
	@echo "==> user stories about security"
	$(on-lab) go test -C test/e2e ./stories -run '^Test($(SECURITY_STORIES))$$' -parallel=2 -count=1 -timeout=60m -v

.PHONY: test-observability
test-observability: image ## Have a Prometheus on a real Kubernetes collect the metrics of the operator and of its clusters, every alert fire and clear, and kubectl's plugin act on a cluster (STORIES=regexp for some)
	@echo "==> user stories about what can be observed"
	$(on-lab) go test -C test/e2e ./stories -run '$(or $(filter-out .,$(STORIES)),^Test($(OBSERVABILITY_STORIES))$$)' -parallel=2 -count=1 -timeout=120m -v

.PHONY: test-autopilot
test-autopilot: image ## Have Auto Pilot make room, defragment, replace a member whose data differs and recover a quorum on a real Kubernetes, and hold what is not safe (STORIES=regexp for some, ETCD_VERSION=3.5.35,3.7.3 for another etcd, of each one in the list, QUIET=10m for less than a night)
	@echo "==> user stories about Auto Pilot"
	$(on-lab) ETCD_VERSION=$(ETCD_VERSION) QUIET=$(QUIET) go test -C test/e2e ./stories -run '$(or $(filter-out .,$(STORIES)),^Test($(AUTOPILOT_STORIES)|Recovery)$$)' -parallel=$(AT_ONCE) -count=1 -timeout=360m -v

.PHONY: test-migrate
test-migrate: image ## Run the commands of README.md under "Run a cluster", "Back it up" and "Uninstall" on a real Kubernetes, which deletes the operator and deploys it again, and those of docs/migrate.md: bring the data of an etcd in a StatefulSet into an EtcdCluster, and back
	@echo "==> user stories of those who read the documents"
	$(on-lab) go test -C test/e2e ./stories -run '^Test($(MIGRATE_STORIES))$$' -count=1 -timeout=60m -v

.PHONY: dashboard-pictures
dashboard-pictures: image ## Draw docs/images/dashboard-*.png anew, from what a Prometheus on the lab answers to the dashboards' queries
	PICTURES=$(ROOT)/docs/images $(on-lab) go test -C test/e2e ./stories -run '^TestPrometheus$$' -count=1 -timeout=60m -v

.PHONY: test-alerts
test-alerts: ## Have promtool judge what each alert fires on, and on what it does not
	TEST_ASSET_PROMTOOL=$(call tool,promtool) go test -C test ./alerts -count=1 -v

.PHONY: test-install
test-install: image ## Delete the operator, its CRDs and all their objects from the lab; then install a rehearsed release of the last commit there by YAML and Helm, upgrade it below clusters of its own, and move to OLM (STORIES=regexp for some)
	@echo "==> user stories of those who install a release"
	$(on-lab) FROM= VERSION=$(VERSION) HELM=$(call tool,helm) go test -C test/e2e ./install -run '$(STORIES)' -skip '^TestUpgradeFrom$$' -count=1 -timeout=240m -v

.PHONY: need-from
need-from:
	@test -n '$(FROM)' || { echo "say FROM=…: the commit, branch or tag to upgrade from" >&2; exit 1; }

.PHONY: test-upgrade
test-upgrade: need-from image ## Delete the operator, its CRDs and all their objects from the lab; then install the operator of another commit there (FROM=commit), and upgrade it to that of this tree below clusters of its own
	@echo "==> upgrade from $(FROM)"
	$(on-lab) FROM='$(FROM)' go test -C test/e2e ./install -run '^TestUpgradeFrom$$' -count=1 -timeout=90m -v

.PHONY: test-olm
test-olm: image-olm ## Run the stories of those who install the operator by OLM, rehearsed releases among them (STORIES=regexp for some)
	@echo "==> user stories with OLM"
	go test -C test/lab -tags=lab ./internal/olm
	$(on-lab) VERSION=$(VERSION) PREVIOUS_IMG=$(LAB_PREVIOUS_IMG) SCORECARD_IMG=$(LAB_SCORECARD_IMG) \
	  OPM=$(call tool,opm) OPERATOR_SDK=$(call tool,operator-sdk) \
	  go test -C test/e2e ./olm -run '$(STORIES)' -count=1 -timeout=180m -v

.PHONY: test-faults
test-faults: image ## Break things on the lab in every known way and print what each cost (FAULTS=regexp, FAULT_STORIES=name for some)
	@echo "==> faults"
	$(on-lab) FAULTS='$(FAULTS)' FAULT_TABLE=$(BIN)/faults.md \
	  go test -C test/e2e ./stories -run '^$(FAULT_STORIES)$$' -count=1 -timeout=0 -v

.PHONY: soak
soak: image ## Break, edit and restore at random on the lab, several things at once (SEED=n MINUTES=m)
	@echo "==> soak"
	$(on-lab) go run -C test ./e2e/soak/run -seed $(SEED) -minutes $(MINUTES) -out $(BIN)/soak.md

.PHONY: bench
bench: image ## Measure on the lab how long things take (RUNS=n)
	$(on-lab) go run -C test ./bench/latency -runs $(or $(RUNS),5)

.PHONY: bench-scale
bench-scale: build ## Measure the control loop with simulated clusters (CLUSTERS=1,10,… SCALE_FLAGS=-tls)
	TEST_ASSET_KUBE_APISERVER=$(call tool,kube-apiserver) TEST_ASSET_ETCD=$(call tool,etcd) ROOT=$(ROOT) \
	  OPERATOR=$(BIN)/manager go run -C test ./bench/scale -clusters $(CLUSTERS) -idle 5m $(SCALE_FLAGS)

.PHONY: bench-backup
bench-backup: build ## Measure backup and restore against etcd's own tools, as root (SIZES=0.1,1,… RUNS=n)
	TEST_ASSET_ETCD=$(call tool,etcd36/etcd) TEST_ASSET_MINIO=$(call tool,minio) AGENT=$(BIN)/agent \
	  go run -C test ./bench/backup -sizes $(SIZES) -runs $(or $(RUNS),5)

.PHONY: bench-tls
bench-tls: ## Measure what TLS costs a cluster of real etcds on this machine (RUNS=n)
	TEST_ASSET_ETCD=$(call tool,etcd36/etcd) go run -C test ./bench/transport -runs $(or $(RUNS),5)

.PHONY: reproducible
reproducible: ## Build this commit three times in different ways, and compare programs, SBOMs and images byte for byte
	@echo "==> reproducible builds"
	go test -C test -count=1 -timeout=60m -v ./reproducible -run '^TestReproducible$$'

.PHONY: test-release
test-release: ## Rehearse the release of this commit in two folders, compare both byte for byte, and look whether all is there and can be pushed
	@echo "==> rehearsed release"
	PLATFORMS=$(PLATFORMS) PLUGIN_PLATFORMS=$(PLUGIN_PLATFORMS) VERSION=$(VERSION) go test -C test -count=1 -timeout=90m -v ./reproducible -run '^TestRelease$$'

.PHONY: explore
explore: ## Explore larger worlds than the tests do; takes long
	EXPLORE=full go test ./internal/plan -run 'TestExplore' -count=1 -timeout=0 -v

.PHONY: check-generated
check-generated: check-bundle ## Check that generated files are fresh
	@echo "==> generated files"
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(call tool,controller-gen) $(CONTROLLER_GEN_ARGS) output:crd:dir="$$dir/crd" output:rbac:dir="$$dir/rbac" \
	  output:object:dir="$$dir/object"; \
	$(api-docs) "$$dir/api.md"; $(reasons-docs) > "$$dir/reasons.md"; \
	$(metrics-docs) > "$$dir/metrics.md"; $(alert-rules) > "$$dir/rules.yaml"; \
	$(dashboards) "$$dir"; $(licenses) "$$dir/third-party-licenses.txt"; \
	diff -r "$$dir/crd" config/crd/bases && diff "$$dir/rbac/role.yaml" config/rbac/role.yaml && \
	  diff "$$dir/object/zz_generated.deepcopy.go" api/v1beta2/zz_generated.deepcopy.go && \
	  diff "$$dir/api.md" docs/api.md && diff "$$dir/reasons.md" docs/reasons.md && \
	  diff "$$dir/metrics.md" docs/metrics.md && diff "$$dir/rules.yaml" config/prometheus/base/rules.yaml && \
	  diff "$$dir/third-party-licenses.txt" third-party-licenses.txt && \
	  diff "$$dir/fleet.json" config/prometheus/dashboards/fleet.json && diff "$$dir/cluster.json" config/prometheus/dashboards/cluster.json || \
	  { echo "generated files are stale: run make generate manifests" >&2; exit 1; }

.PHONY: lint
lint: ## Check style and format
	@echo "==> lint"
	linter=$(call tool,golangci-lint); for module in $(MODULES); do (cd $$module && GOOS=linux "$$linter" run ./...); done
	$(call tool,actionlint) -shellcheck= -pyflakes= .github/workflows/*.yaml

.PHONY: fmt
fmt: ## Format the code
	linter=$(call tool,golangci-lint); for module in $(MODULES); do (cd $$module && "$$linter" fmt ./...); done

.PHONY: vet
vet: ## Run go vet, which lint does, too
	for module in $(MODULES); do GOOS=linux go vet -C $$module ./...; done

##@ Lab: a real Kubernetes on this machine

LAB_KUBECONFIG := $(or $(ETCD_OPERATOR_LAB),$(HOME)/.local/state/etcd-operator-lab)/kubeconfig
# on-lab sets the environment of programs that work on the lab.
on-lab = KUBECONFIG=$(LAB_KUBECONFIG) KUBECTL=$(call tool,kubectl) ROOT=$(ROOT) \
	IMG=$(LAB_IMG) CLIENT_IMG=$(LAB_CLIENT_IMG)

.PHONY: demo
ifneq ($(filter-out $(LAB_KUBECONFIG),$(KUBECONFIG)),)
demo: ## Show what the operator does, on the lab or on the cluster that KUBECONFIG names
	@test -n "$(CLIENT_IMG)" || { echo "say CLIENT_IMG=… too: an image of test/e2e/client" >&2; exit 1; }
	KUBECTL=$(KUBECTL) ROOT=$(ROOT) IMG=$(IMG) CLIENT_IMG=$(CLIENT_IMG) go run -C test/e2e ./demo
else
demo: image
	$(on-lab) go run -C test/e2e ./demo
endif

.PHONY: lab-up
lab-up: ## Start the lab with NODES nodes; it does nothing if it runs
	$(LAB) up --nodes $(NODES)

.PHONY: lab-down
lab-down: ## End the lab and remove it; logs and built programs stay
	$(LAB) down

##@ Deploy: to the cluster of kubectl's current context

# tagged has the alerts in a copy of config lead to the runbooks of the version, if it is that which is built, and not to those of main.
tagged = $(if $(filter v$(VERSION),$(STAMP)),sed 's|/blob/main/|/blob/$(STAMP)/|' config/prometheus/base/rules.yaml > $(1)/prometheus/base/rules.yaml,:)

# copied makes a copy of config with the image IMG, to leave the source tree as it is.
define copied
rm -rf $(BIN)/config && mkdir -p $(BIN) && cp -r config $(BIN)/config && \
kustomize=$(call tool,kustomize) && (cd $(BIN)/config/manager && "$$kustomize" edit set image controller=$(IMG)) && \
$(call pinned,$(BIN)/config) && $(call tagged,$(BIN)/config)
endef

# render gives the manifests of a folder of config with the image IMG.
render = $(copied) && "$$kustomize" build $(BIN)/config/$(1)

.PHONY: install
install: ## Install the CRDs
	$(call tool,kustomize) build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: ## Remove the CRDs, and every EtcdCluster with them
	$(call tool,kustomize) build config/crd | $(KUBECTL) delete --ignore-not-found -f -

.PHONY: deploy
deploy: ## Install the CRDs and the operator with the image IMG
	$(call render,default) | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Remove the operator and the CRDs, and every EtcdCluster with them
	$(call tool,kustomize) build config/default | $(KUBECTL) delete --ignore-not-found -f -

.PHONY: run
run: ## Run the operator here; members take member-run, and backups the agent, from the image IMG
	go run . --operator-image $(IMG)

.PHONY: build-installer
build-installer: ## Write dist/install.yaml: the CRDs and the operator with the image IMG
	mkdir -p $(DIST)
	$(call render,default) > $(DIST)/install.yaml

include hack/namespaced.mk
include hack/bundle.mk
include hack/docs.mk
include hack/release.mk
