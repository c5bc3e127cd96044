# The documents as a site, from docs/site.

SITE := $(abspath $(DIST))/docs
# DOCS_URL is where the site is going to be, which its pages tell search engines. Its links are relative: it works anywhere.
DOCS_URL ?=

.PHONY: docs
docs: ## Write dist/docs: the documents as a site, with search, for any web server
	HUGO_PARAMS_VERSION=$(VERSION) HUGO_PARAMS_COMMIT=$$(git rev-parse HEAD 2>/dev/null || echo main) HUGO_PARAMS_URL=$(DOCS_URL) \
	  $(call tool,hugo) --source docs/site --destination $(SITE) --cleanDestinationDir --noBuildLock --panicOnWarning --quiet
	$(call tool,pagefind) --site $(SITE) --quiet

.PHONY: docs-versions
docs-versions: ## Write dist/docs-versions: the same for every version in docs/site/data/versions.yaml, each in its folder, from its tag
	go run ./hack/site -tree $(ROOT) -output $(abspath $(DIST))/docs-versions -url '$(DOCS_URL)'

.PHONY: test-docs
test-docs: docs ## Check every link of the documents' site, and look at it in Chromium, as wide as a desktop and as a phone; dist/docs-pictures has what was seen
	SITE=$(SITE) PICTURES=$(abspath $(DIST))/docs-pictures go test -C test ./site -count=1 -v
