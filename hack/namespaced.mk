# The operator for some namespaces, as YAML: with its role in these, and nothing that is in a namespace in a ClusterRole of its own.

# NAMESPACES are those that the operator watches, separated by commas. There is no default: none would mean all to the operator.
NAMESPACES ?=

# checked-namespaces ends the recipe unless NAMESPACES is a list of different DNS labels (RFC 1123), as names of namespaces are.
dns-label := [a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?
define checked-namespaces
names='$(subst ','\'',$(NAMESPACES))'; label='$(dns-label)'; \
[[ "$$names" =~ ^$$label(,$$label)*$$ ]] || \
  { echo "NAMESPACES is '$$names': say which namespaces to watch, separated by commas only: NAMESPACES=shop,billing" >&2; exit 1; }; \
twice=$$(tr , '\n' <<< "$$names" | sort | uniq -d); \
[ -z "$$twice" ] || { echo "NAMESPACES has" $$twice "more than once: leave out all but one" >&2; exit 1; }
endef

# listed makes the kustomization in the current folder: the operator that watches $names, and its rights in each of them.
define listed
"$$kustomize" create --resources operator && for name in $${names//,/ }; do \
  mkdir -p "in/$$name" && (cd "in/$$name" && "$$kustomize" create --namespace "$$name" --resources ../../rights) && \
  "$$kustomize" edit add resource "in/$$name" || exit 1; \
done && \
"$$kustomize" edit add patch --kind Deployment --name controller-manager --patch \
  '{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "controller-manager"}, "spec": {"template": {"spec": {"containers": [{"name": "manager", "env": [{"name": "WATCH_NAMESPACE", "value": "'"$$names"'", "valueFrom": null}]}]}}}}'
endef

.PHONY: build-namespaced
build-namespaced: ## Write dist/install-namespaced.yaml: the same for NAMESPACES=a,b, with rights in these alone
	$(checked-namespaces); mkdir -p $(DIST) && $(copied) && (cd $(BIN)/config/namespaced && $(listed)) && \
	"$$kustomize" build $(BIN)/config/namespaced > $(DIST)/install-namespaced.yaml
