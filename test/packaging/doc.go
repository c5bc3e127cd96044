// Package packaging holds the tests of what the Operator Lifecycle Manager gets: the bundle, the catalog, and what both
// promise; and those of the documents: that what they link to and name is there. They read what is generated and run the tools of
// that trade on it; no cluster is needed.
package packaging
