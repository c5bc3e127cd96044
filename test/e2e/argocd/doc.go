// Package argocd tests the health scripts in config/argocd, in the Lua that Argo CD runs them with.
package argocd
