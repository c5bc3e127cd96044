# What a release consists of, and how it gets out. docs/release.md says in which order.

# Recipes have VERSION as it is, and a tag's name may hold commands. So it is looked at before anything expands it: nothing may be in it but
# what versions consist of, and only then a shell sees it. A build, for which docker has a VERSION of its own, is not asked.
ifneq ($(filter chart release release-%,$(MAKECMDGOALS)),)
version-rest := $(value VERSION)
$(foreach c,. - 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z \
	A B C D E F G H I J K L M N O P Q R S T U V W X Y Z,$(eval version-rest := $$(subst $(c),,$$(version-rest))))
version-number := (0|[1-9][0-9]*)
version-valid = $(shell [[ $(VERSION) =~ ^$(version-number)[.]$(version-number)[.]$(version-number)(-[0-9A-Za-z.-]+)?$$ ]] && echo yes)
ifneq (x$(version-rest)x,xx)
$(error VERSION has characters that no version has: want one such as 1.2.3 or 1.2.3-rc.1)
else ifneq ($(version-valid),yes)
$(error VERSION is "$(VERSION)": want one such as 1.2.3 or 1.2.3-rc.1)
endif
endif

# RELEASE is the folder that gets it, and STAGE the one that it is made in.
RELEASE = $(DIST)/v$(VERSION)
STAGE = $(BIN)/release
# SOURCE is the address of the repository, whose page of the release has the files.
SOURCE ?= https://github.com/etcdpilot/etcd-operator
# REHEARSAL=yes makes a release of a tree that is not committed yet, whose changelog has no date, or for some platforms: to look at, not to
# publish. The file REHEARSAL, which has a checksum as the others have, keeps that folder from being pushed or signed as a release.
REHEARSAL ?=
refuse-rehearsed = test '$(REHEARSAL)' = yes || test ! -e $(RELEASE)/REHEARSAL || \
	{ echo "$(RELEASE) is a rehearsal, nothing to publish: make the release again, or say REHEARSAL=yes if this is a rehearsal, too" >&2; exit 1; }
refuse-partial = test '$(REHEARSAL)' = yes || test '$(PLATFORMS) $(PLUGIN_PLATFORMS)' = '$(ALL_PLATFORMS) $(ALL_PLUGIN_PLATFORMS)' || \
	{ echo "a release is for all platforms: unset PLATFORMS and PLUGIN_PLATFORMS, or say REHEARSAL=yes" >&2; exit 1; }
# LATEST=yes has release-push move the catalog's tag latest, too, from which OLM updates by itself. Without it release-latest does, later.
LATEST ?=
# PUSHED is the list of what release-push has pushed, by digest, which release-sign signs.
PUSHED = $(DIST)/pushed-v$(VERSION).txt

# ETCD_REGISTRY is asked for the digests of etcd's images in the place of the one that their names have: the same for a mirror. With
# REHEARSAL=yes it may have images of one architecture.
ETCD_REGISTRY ?=

# All in a release is as old as the commit that it is made from.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
RELEASER = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) go run -C $(ROOT)/hack/release .

# adding renders config/default with what is added to its kustomization: a folder of config, and how it is added.
adding = rm -rf $(BIN)/config/with && cp -r $(BIN)/config/default $(BIN)/config/with && \
	(cd $(BIN)/config/with && "$$kustomize" edit add $(2) ../$(1)) && "$$kustomize" build $(BIN)/config/with

##@ Release: what is published, in dist

.PHONY: chart
chart: ## Write dist/etcd-operator-VERSION.tgz: the Helm chart, which installs the operator with the image IMG
	mkdir -p $(DIST)
	dist=$$(cd $(DIST) && pwd); manifests=$$(mktemp -d); trap 'rm -rf "$$manifests"' EXIT; $(call render,default) > "$$manifests/default"; \
	variants=(); for name in cert-manager openshift certificate; do \
	  $(call adding,prometheus/$$name,component) > "$$manifests/$$name"; \
	  variants+=(--variant "$$manifests/$$name=eq .Values.monitoring \"$$name\""); \
	done; \
	$(call adding,network-policy,resource) > "$$manifests/network-policy"; \
	$(RELEASER) chart --source $(ROOT)/config/chart --version $(VERSION) --manifests "$$manifests/default" "$${variants[@]}" \
	  --variant "$$manifests/network-policy=.Values.networkPolicy.enabled" --output "$$dist/etcd-operator-$(VERSION).tgz"

comma := ,
# each separates the platforms of a list.
each = $(subst $(comma), ,$(1))
# platform-folder has what is built for $$platform.
platform-folder = $(STAGE)/$${platform/\//-}

# release-programs builds for each platform what runs there. The catalog is served by the opm that checks it here.
define release-programs
for platform in $(call each,$(PLATFORMS)); do \
  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(MAKE) build build-scorecard BIN=$(platform-folder) STAMP=v$(VERSION); \
  for tool in opm grpc-health-probe; do \
    cp "$$(go run -C $(ROOT)/hack/tool . --platform $$platform $$tool)/$$tool" $(platform-folder); \
  done; \
done; \
for platform in $(call each,$(PLUGIN_PLATFORMS)); do \
  GOOS=$${platform%/*} GOARCH=$${platform#*/} $(MAKE) plugin BIN=$(platform-folder) STAMP=v$(VERSION); \
done
endef

# release-image writes the image $(1), described by $(2), and adds its name by digest to those of the release.
release-image = $(RELEASER) image --name $(REGISTRY)/$(1):v$(VERSION) --platforms $(PLATFORMS) $(2) --output $(STAGE)/out/$(1)-image.tar \
	>> $(STAGE)/out/images.txt
# released is the name by digest of the image $(1).
released = $$(grep '/$(1)@' $(STAGE)/out/images.txt)

# release-licenses writes the licenses of what is compiled into the programs $(2) to $(STAGE)/$(1)-licenses.txt, and
# with-licenses adds them to their image, with ours.
release-licenses = $(RELEASER) licenses $(2) --platforms $(PLATFORMS) --output $(STAGE)/$(1)-licenses.txt \
	--title "What is compiled into the programs of this image, and its licenses"
with-licenses = --file $(ROOT)/LICENSE:/licenses/LICENSE --file $(STAGE)/$(1)-licenses.txt:/licenses/third-party-licenses.txt

# release-sboms lists the modules of every program. A tool has its own version, which it knows.
define release-sboms
cyclonedx=$(call tool,cyclonedx-gomod); for program in $(STAGE)/*-*/*; do \
  folder=$(STAGE)/sboms/$$(basename "$$(dirname "$$program")"); mkdir -p "$$folder"; version='-version v$(VERSION)'; \
  case $$program in */opm|*/grpc-health-probe) version= ;; esac; \
  $(call sbom-of,"$$program",$$version -output "$$folder/$$(basename "$$program").cdx.json"); \
done
endef

# release-digests is where the digests of etcd's images are. Only a rehearsal gets by without any: then it names tags, and the bundle says so.
release-digests = $(abspath $(or $(ETCD_DIGESTS),$(etcd-digests-file)))
release-pinned = $(shell grep -s '^[^\#].*@sha256:' '$(release-digests)')

.PHONY: etcd-digests
etcd-digests: ## Write hack/etcd-digests.txt, or ETCD_DIGESTS: what etcd's tags refer to now (ETCD_REGISTRY=host to ask a mirror)
	$(RELEASER) digests --config $(ROOT)/config --digests '$(release-digests)' --registry '$(ETCD_REGISTRY)' $(if $(filter yes,$(REHEARSAL)),--rehearsal)

# What programs are compiled for, and how, is not up to the environment of whoever makes a release: these are Go's defaults. One of
# GOEXPERIMENT cannot be written down, since it is of each version of Go, so release refuses any.
release: export GOWORK := off
release: export GOFLAGS := $(FLAGS)
release: export GOAMD64 := v1
release: export GOARM64 := v8.0
release: export GOPPC64 := power8
release: export GOFIPS140 := off

.PHONY: release
release: STAMP = v$(VERSION)
release: ## Write dist/vVERSION: all that the page of a release carries, for all platforms (REHEARSAL=yes to try it)
	@echo "==> release $(VERSION)"
	@test -z "$$(go env GOEXPERIMENT)" || { echo "GOEXPERIMENT is $$(go env GOEXPERIMENT): unset it, it changes what is compiled" >&2; exit 1; }
	@$(refuse-partial)
	$(RELEASER) check --dir $(ROOT) --version $(VERSION) --config $(ROOT)/config --digests '$(release-digests)' $(if $(filter yes,$(REHEARSAL)),--rehearsal)
	rm -rf $(STAGE) $(RELEASE) && mkdir -p $(STAGE)/out $(DIST)
	$(release-programs)
	$(call release-image,etcd-operator,$(call operator-image,$(STAGE)/{platform}))
	$(call release-licenses,scorecard,--dir $(ROOT)/test --package ./e2e/scorecard)
	$(call release-image,etcd-operator-scorecard,$(call scorecard-image,$(STAGE)/{platform}) $(call with-licenses,scorecard))
	$(MAKE) release-manifests DIST=$(STAGE)/out NAMESPACES=etcd-operator-system STAMP=$(STAMP) \
	  ETCD_DIGESTS='$(if $(release-pinned),$(release-digests))' IMG="$(call released,etcd-operator)" SCORECARD_IMG="$(call released,etcd-operator-scorecard)"
	$(call release-image,etcd-operator-bundle,--bundle $(STAGE)/bundle/bundle)
	$(MAKE) release-catalog BUNDLE_IMG="$(call released,etcd-operator-bundle)"
	$(call release-licenses,catalog,--tool opm --tool grpc-health-probe)
	$(call release-image,etcd-operator-catalog,--catalog $(STAGE)/catalog/catalog --opm $(STAGE)/{platform}/opm \
	  --probe $(STAGE)/{platform}/grpc-health-probe $(call with-licenses,catalog))
	$(RELEASER) plugin --programs $(STAGE) --version $(VERSION) --source $(SOURCE) --platforms $(PLUGIN_PLATFORMS) \
	  --license $(ROOT)/LICENSE --license $(ROOT)/third-party-licenses.txt --output $(STAGE)/out
	$(release-sboms)
	$(RELEASER) pack --folder $(STAGE)/sboms --output $(STAGE)/out/sboms.tar.gz
	$(licenses) $(STAGE)/out/third-party-licenses.txt && diff $(STAGE)/out/third-party-licenses.txt third-party-licenses.txt || \
	  { echo "third-party-licenses.txt is stale: run make generate" >&2; exit 1; }
	cp $(STAGE)/catalog/catalog/$(PACKAGE)/v$(VERSION).yaml $(STAGE)/out/catalog-v$(VERSION).yaml
	$(RELEASER) notes --dir $(ROOT) --version $(VERSION) --source $(SOURCE) --images $(STAGE)/out/images.txt > $(STAGE)/notes.md
	mv $(STAGE)/notes.md $(STAGE)/out/release-notes.md
	$(if $(filter yes,$(REHEARSAL)),echo "This is a rehearsal: nothing to publish." > $(STAGE)/out/REHEARSAL)
	$(RELEASER) sums $(STAGE)/out
	mv $(STAGE)/out $(RELEASE)
	@echo "release $(VERSION) is in $(RELEASE)"

# With the operator's image by digest. The file for some namespaces is of the operator's own.
.PHONY: release-manifests
release-manifests: build-installer chart build-namespaced
	$(call tool,kustomize) build config/crd > $(DIST)/crds.yaml
	mkdir -p $(STAGE)/bundle && ($(call bundle-in,$(STAGE)/bundle))

.PHONY: release-catalog
release-catalog:
	mkdir -p $(STAGE)/tree/docs $(STAGE)/catalog
	cp -r catalog $(STAGE)/bundle/bundle $(STAGE)/tree && cp docs/icon.svg $(STAGE)/tree/docs
	cd $(STAGE)/tree && ($(call catalog-in,$(STAGE)/catalog))

.PHONY: release-push
release-push: ## Push the images and the chart of dist/vVERSION to REGISTRY (LATEST=yes to move the catalog's tag latest, too)
	@test -z "$${COSIGN_KEY:-}" || { echo "COSIGN_KEY is set, and this signs nothing: unset it, then make release-sign" >&2; exit 1; }
	@$(refuse-rehearsed)
	helm=$(call tool,helm); pushed=$$($(RELEASER) push --release "$$(cd $(RELEASE) && pwd)" --version $(VERSION) --registry $(REGISTRY) \
	  --helm "$$helm" $(if $(filter yes,$(LATEST)),--latest etcd-operator-catalog)); echo "$$pushed" | tee $(PUSHED)

.PHONY: release-latest
release-latest: ## Have the catalog's tag latest in REGISTRY refer to dist/vVERSION, if that was pushed and is the highest version
	@$(refuse-rehearsed)
	$(RELEASER) latest --release "$$(cd $(RELEASE) && pwd)" --registry $(REGISTRY) --image etcd-operator-catalog

# images-listed and images-pushed have to be the same before anything is signed. What the chart's digest is only the registry knows.
images-listed = sed 's|.*/|$(REGISTRY)/|' $(RELEASE)/images.txt | sort
images-pushed = { grep -vxE '$(chart-pushed)' $(PUSHED) || true; } | sort
chart-pushed = $(subst .,[.],$(REGISTRY))/charts/etcd-operator@sha256:[0-9a-f]{64}

# Nothing is compiled here, and cosign alone is run with the key, which is a file, or an address such as of a KMS. It gets names by digest.
.PHONY: release-sign
release-sign: ## Sign what release-push has pushed, for each platform, and the checksums of dist/vVERSION, by COSIGN_KEY
	@$(refuse-rehearsed)
	@test -n "$${COSIGN_KEY:-}" || { echo "say what to sign with: COSIGN_KEY=cosign.key" >&2; exit 1; }
	@command -v cosign > /dev/null || { echo "put cosign into PATH: it is what signs" >&2; exit 1; }
	@test -s $(PUSHED) || { echo "$(PUSHED) is missing: make release-push writes it" >&2; exit 1; }
	@diff <($(images-listed)) <($(images-pushed)) >&2 || { echo "$(PUSHED) has other images than $(RELEASE): nothing is signed" >&2; exit 1; }
	@test "$$(grep -cxE '$(chart-pushed)' $(PUSHED))" = 1 || { echo "$(PUSHED) does not have one chart: nothing is signed" >&2; exit 1; }
	for name in $$(< $(PUSHED)); do cosign sign --yes --recursive --key "$$COSIGN_KEY" "$$name"; done
	cosign sign-blob --yes --key "$$COSIGN_KEY" --bundle $(RELEASE)/SHA256SUMS.sigstore.json $(RELEASE)/SHA256SUMS
