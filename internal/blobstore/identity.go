package blobstore

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// A Secret can name a file of the pod that is to be exchanged for a token, such as that with the pod's own identity, and where
// that is done. Who may read a Secret may have no right to the identity, and could have it, or any other file, sent to
// themselves. So these files go to the cloud alone, whatever AllowTokens says: that is about the storage.

// checkExchange refuses the addresses of an external account at Google Cloud that are not Google's. Empty ones are.
func checkExchange(addresses ...string) error {
	for _, address := range addresses {
		u, err := url.Parse(address)
		if address == "" || err == nil && u.Scheme == "https" && clouds[storage.SchemeGCS].MatchString(strings.ToLower(u.Hostname())) {
			continue
		}
		return insecure("the Secret's credentials.json sends the pod's identity token to an address other than " +
			"https://*.googleapis.com, where anyone who reads it can use it: correct token_url and service_account_impersonation_url")
	}
	return nil
}

// checkProfile refuses the AWS command line's files if they have a token of the pod's sent to where they say. The addresses of
// the environment are the administrator's.
func checkProfile(loaded aws.Config) error {
	for _, source := range loaded.ConfigSources {
		profile, ok := source.(config.SharedConfig)
		if !ok || profile.BaseEndpoint == "" && profile.ServicesSectionName == "" {
			continue
		}
		for p := &profile; p != nil; p = p.Source {
			if p.WebIdentityTokenFile != "" {
				return insecure(fmt.Sprintf("the Secret's profile %s sends the token in %s to an address of its own, where anyone who "+
					"reads it can use it: remove endpoint_url and services, and set storage.endpoint to the storage's address",
					p.Profile, p.WebIdentityTokenFile))
			}
		}
	}
	return nil
}

// borrowsProfile reports whether the AWS command line's files of a Secret only say how to use an identity that the pod has, or its
// node, rather than hold keys of their own.
func (c Credentials) borrowsProfile(loaded aws.Config) bool {
	if len(c) == 0 || aws.IsCredentialsProvider(loaded.Credentials, credentials.StaticCredentialsProvider{}) {
		return false
	}
	for _, source := range loaded.ConfigSources {
		if profile, ok := source.(config.SharedConfig); ok {
			first := &profile
			for first.Source != nil {
				first = first.Source
			}
			return !first.Credentials.HasKeys()
		}
	}
	return true
}
