// Package site holds the tests of the documents as a site, which make docs has written into the folder that SITE names: that
// every link leads somewhere, and how its pages look in a browser.
package site
