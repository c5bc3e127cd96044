package blobstore

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/failure"
	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// clouds are the hosts of each cloud's own storage, by scheme. Domains in which customers choose names, such as those of load
// balancers, are not among them.
var clouds = map[string]*regexp.Regexp{
	storage.SchemeS3: regexp.MustCompile(`^([a-z0-9.-]+\.)?s3(-fips|-accesspoint|express-[a-z0-9-]+)?(\.dualstack)?([.-][a-z]{2,4}(-[a-z]+)+-[0-9]+)?(\.vpce)?` +
		`\.(amazonaws\.com(\.cn)?|amazonaws\.eu|api\.aws|c2s\.ic\.gov|sc2s\.sgov\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)$`),
	storage.SchemeGCS: regexp.MustCompile(`^([a-z0-9-]+\.)+googleapis\.com$`),
	storage.SchemeAzure: regexp.MustCompile(`^([a-z0-9-]+\.)+blob\.(core\.windows\.net|storage\.azure\.net|core\.usgovcloudapi\.net|` +
		`core\.chinacloudapi\.cn|core\.cloudapi\.de)$`),
}

// fence keeps tokens from being sent to the wrong address. Unlike a signature, a token can be used by anyone who reads it.
type fence struct {
	cloud *regexp.Regexp
	// endpoint is nil for the cloud's own. ambient is true if the token is of the pod's own identity, which is not meant for the
	// endpoint as that of a Secret is. borrowed is true if a Secret says how to use the pod's identity.
	endpoint          *url.URL
	ambient, borrowed bool
}

// newFence is nil if tokens may go anywhere. The target's endpoint has been checked.
func newFence(t Target, c Credentials, borrowed bool) *fence {
	scheme, _, _ := strings.Cut(t.URL, "://")
	if t.AllowTokens && !borrowed {
		return nil
	}
	f := &fence{cloud: clouds[scheme], ambient: len(c) == 0 || borrowed, borrowed: borrowed}
	if t.Endpoint != "" {
		f.endpoint, _ = url.Parse(t.Endpoint)
	}
	return f
}

// checkEndpoint refuses an endpoint before anything is sent to it.
func (f *fence) checkEndpoint() error {
	if f == nil || f.endpoint == nil {
		return nil
	}
	return f.check(f.endpoint)
}

// check refuses addresses that a token must not be sent to: the endpoint's own, or one that the service redirects to.
func (f *fence) check(to *url.URL) error {
	host := strings.ToLower(to.Hostname())
	own := f.cloud.MatchString(host)
	named := f.endpoint != nil && (to.Host == f.endpoint.Host || strings.HasSuffix(to.Host, "."+f.endpoint.Host))
	const token = "requests to the storage carry a bearer token, which anyone who reads it can use"
	switch {
	case f.borrowed && (!own || to.Scheme != "https"):
		return insecure(fmt.Sprintf("%s; the Secret makes it the token of the pod's own identity, and %s is not "+
			"an https:// address of that cloud: use a Secret with credentials for this endpoint", token, to.Host))
	case to.Scheme != "https":
		return insecure(fmt.Sprintf("%s, and %s is plain http: make storage.endpoint https://, or use keys that only sign requests (S3 and "+
			"Azure), or set storage.allowTokens", token, to.Host))
	case own || named && !f.ambient:
		return nil
	case named:
		return insecure(fmt.Sprintf("%s; it is that of the pod's own cloud identity, and %s is not of that cloud: set "+
			"storage.credentialsSecretRef to a Secret with credentials for it, or set storage.allowTokens", token, to.Host))
	}
	return insecure(fmt.Sprintf("%s, and the service at storage.endpoint redirects it to %s: if that is right, set storage.endpoint to it, or set "+
		"storage.allowTokens", token, to.Host))
}

func insecure(message string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonInsecureEndpoint, Message: message, Terminal: true})
}

// around checks every request, including redirects.
func (f *fence) around(tr http.RoundTripper) http.RoundTripper {
	if f == nil {
		return tr
	}
	return fenced{f, tr}
}

type fenced struct {
	*fence
	to http.RoundTripper
}

// RoundTrip sends the request, or refuses to.
func (f fenced) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := f.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return f.to.RoundTrip(r)
}
