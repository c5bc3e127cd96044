# What a release consists of.

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
