# Packaging for the Operator Lifecycle Manager (OLM): the bundle of this version, and the catalog that offers all versions.

PACKAGE := etcd-operator
# CHANNELS that this version belongs to, and the one that a Subscription gets unless it names another.
CHANNELS ?= stable-v0
DEFAULT_CHANNEL ?= stable-v0
BUNDLE_IMG ?= $(REGISTRY)/etcd-operator-bundle:v$(VERSION)
CATALOG_IMG ?= $(REGISTRY)/etcd-operator-catalog:latest
# BUNDLE_FLAGS are more flags of operator-sdk generate bundle. For the digests of etcd's images there is ETCD_DIGESTS.
BUNDLE_FLAGS ?=

CSV := bundle/manifests/$(PACKAGE).clusterserviceversion.yaml

# edit changes the file $(2). The sed of Linux and that of macOS agree on how only if the old file is kept.
edit = sed -i.old $(1) $(2) && rm $(2).old

# ETCD_DIGESTS is a file with etcd's images by tag and digest. Whatever installs the operator, bundle, chart and manifests, then names them by
# digest, and the bundle claims to work from mirrors that have digests only. A release always does: by this file, which etcd-digests writes.
ETCD_DIGESTS ?=
etcd-digests-file := hack/etcd-digests.txt
# pinned puts the digests into the folder $(1), a copy of config.
pinned = $(if $(ETCD_DIGESTS),$(RELEASER) pin --config "$$(cd $(1) && pwd)" --digests '$(abspath $(ETCD_DIGESTS))',true)

disconnected := features.operators.openshift.io/disconnected

# bundle-in writes the bundle, and what the API's types say for it, into the folder $(1), which gets a copy of what it is
# made from. The time of generation is left out: the same sources give the same bundle.
bundle-sources := api config PROJECT go.mod go.sum
bundle-files := bundle bundle.Dockerfile config/manifests/bases
define bundle-in
tar -cf - $(bundle-sources) | tar -xf - -C $(1) && \
kustomize=$(call tool,kustomize) && sdk=$(call tool,operator-sdk) && cd $(1) && \
"$$sdk" generate kustomize manifests -q && \
(cd config/manager && "$$kustomize" edit set image controller=$(IMG)) && $(call pinned,config) && \
$(call edit,'s|[^ ]*/etcd-operator-scorecard:latest|$(SCORECARD_IMG)|',config/scorecard/patches/etcd-operator.config.yaml) && \
"$$kustomize" build config/manifests | "$$sdk" generate bundle -q --version $(VERSION) --channels $(CHANNELS) \
  --default-channel $(DEFAULT_CHANNEL) $(BUNDLE_FLAGS) && \
$(if $(ETCD_DIGESTS),$(call edit,'s|$(disconnected): "false"|$(disconnected): "true"|',$(CSV)) &&) \
$(call edit,'/^    createdAt: /d',$(CSV))
endef

# catalog-in writes the catalog into the folder $(1), which gets a copy of what it is made from: this version's bundle, and
# the catalog up to now.
catalog-sources := bundle catalog docs/icon.svg
catalog-files := catalog catalog.Dockerfile
# The catalog is served by the opm that checks it here.
opm-image = quay.io/operator-framework/opm:$(shell go list -C $(ROOT)/hack/tools/opm -m -f '{{.Version}}' \
	github.com/operator-framework/operator-registry)
define catalog-in
tar -cf - $(catalog-sources) | tar -xf - -C $(1) && opm=$(call tool,opm) && cd $(1) && \
sed -n 's/^    description: //p' $(CSV) > description && \
"$$opm" init $(PACKAGE) -o yaml --default-channel $(DEFAULT_CHANNEL) --icon docs/icon.svg --description description \
  > catalog/$(PACKAGE)/package.yaml && \
"$$opm" render bundle -o yaml --migrate-level bundle-object-to-csv-metadata --alpha-image-ref-template $(BUNDLE_IMG) \
  > catalog/$(PACKAGE)/v$(VERSION).yaml && \
"$$opm" generate dockerfile catalog --base-image $(opm-image) --builder-image $(opm-image)
endef

# generate runs the recipe $(1) in a folder of its own, and puts the files $(2) into this one.
generate = dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; ($(call $(1),"$$dir")); \
	rm -rf $(2); (cd "$$dir" && tar -cf - $(2)) | tar -xf -
# check-stale runs the recipe $(1) in a folder of its own, and says which of the files $(2) it would change.
check-stale = @dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; ($(call $(1),"$$dir")); \
	stale=; for file in $(2); do diff -r "$$dir/$$file" "$$file" || stale=yes; done; test -z "$$stale" || \
	  { echo "the bundle or the catalog is stale: run make bundle catalog" >&2; exit 1; }

##@ OLM: offer the operator in a catalog

.PHONY: bundle
bundle: manifests ## Generate the bundle of this version
	$(call generate,bundle-in,$(bundle-files))

.PHONY: catalog
catalog: ## Put the bundle of this version into the catalog
	$(call generate,catalog-in,$(catalog-files))

.PHONY: check-bundle
check-bundle:
	$(call check-stale,bundle-in,$(bundle-files))
	$(call check-stale,catalog-in,$(catalog-files))

.PHONY: test-bundle
test-bundle: ## Check bundle, catalog and documents, as root
	@echo "==> bundle and catalog"
	TEST_ASSET_SDK=$(call tool,operator-sdk); TEST_ASSET_SCORECARD=$(call tool,scorecard-test); TEST_ASSET_OPM=$(call tool,opm); \
	TEST_ASSET_HELM=$(call tool,helm); TEST_ASSET_KUBE_APISERVER=$(call tool,kube-apiserver); TEST_ASSET_ETCD=$(call tool,etcd); \
	TEST_ASSET_KUBECTL=$(call tool,kubectl); TEST_ASSET_ETCDCTL=$(call tool,etcd36/etcdctl); \
	export TEST_ASSET_HELM TEST_ASSET_KUBE_APISERVER TEST_ASSET_ETCD TEST_ASSET_KUBECTL TEST_ASSET_ETCDCTL; \
	export TEST_ASSET_SDK TEST_ASSET_SCORECARD TEST_ASSET_OPM; \
	PLATFORMS=$(PLATFORMS) VERSION=$(VERSION) go test -C test -count=1 ./packaging

.PHONY: bundle-build
bundle-build: ## Build the bundle's image BUNDLE_IMG
	$(CONTAINER_TOOL) build -f bundle.Dockerfile -t $(BUNDLE_IMG) .

.PHONY: bundle-push
bundle-push: ## Push the image BUNDLE_IMG
	$(CONTAINER_TOOL) push $(BUNDLE_IMG)

.PHONY: catalog-build
catalog-build: ## Build the catalog's image CATALOG_IMG
	$(CONTAINER_TOOL) build -f catalog.Dockerfile -t $(CATALOG_IMG) .

.PHONY: catalog-push
catalog-push: ## Push the image CATALOG_IMG
	$(CONTAINER_TOOL) push $(CATALOG_IMG)
