package backup

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/etcdpilot/etcd-operator/internal/blobstore"
	"github.com/etcdpilot/etcd-operator/internal/snapshot"
	"github.com/etcdpilot/etcd-operator/internal/storage"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

// place is where a bucket is, as it is told.
type place struct {
	target blobstore.Target
	// ca is a file with certificates.
	ca string
}

// read lists a bucket with the credentials of the environment. Only what is of the cluster of that name is shown, unless it is empty.
func (p place) read(ctx context.Context, cluster string) ([]Group, error) {
	if !strings.Contains(p.target.URL, "://") {
		return nil, fmt.Errorf("--url %s has no scheme: it must be s3://…, gs://…, azblob://… or file:///…", p.target.URL)
	}
	if p.target.ServerName != "" && !strings.HasPrefix(p.target.Endpoint, "https://") {
		return nil, fmt.Errorf("--server-name %s is for the certificate of an endpoint: give that, too, with --endpoint https://…", p.target.ServerName)
	}
	p.target.ReadOnly = true
	if p.ca != "" {
		var err error
		if p.target.CA, err = os.ReadFile(p.ca); err != nil {
			return nil, err
		}
	}
	bucket, err := blobstore.Open(ctx, p.target, ambient(p.target.URL, os.Getenv))
	if err != nil {
		return nil, p.explain(unopened(p.target.URL, err))
	}
	defer func() { _ = bucket.Close() }()
	listing, err := snapshot.List(ctx, bucket, "")
	if err != nil {
		return nil, p.explain(fmt.Errorf("with the credentials of your environment: %w", err))
	}
	return groups(p.target.URL, cluster, listing), nil
}

// ambient are the variables that Azure's own tools know, and blobstore only as keys of a Secret; nil if there are none. What Amazon's and
// Google's tools know, their libraries read themselves.
func ambient(url string, getenv func(string) string) blobstore.Credentials {
	if !strings.HasPrefix(url, storage.SchemeAzure+"://") {
		return nil
	}
	c := blobstore.Credentials{}
	for key, variable := range map[string]string{
		storage.KeyAzureKey: "AZURE_STORAGE_KEY", storage.KeyAzureSAS: "AZURE_STORAGE_SAS_TOKEN",
	} {
		if value := getenv(variable); value != "" {
			c[key] = []byte(value)
		}
	}
	if len(c) == 0 {
		return nil // the identity that "az login" has left
	}
	c[storage.KeyAzureAccount] = []byte(getenv("AZURE_STORAGE_ACCOUNT"))
	return c
}

// unopened says why a bucket cannot be opened. What blobstore says to pods without credentials is no help at a terminal.
func unopened(url string, err error) error {
	says := err.Error()
	scheme, _, _ := strings.Cut(url, "://")
	todo := map[string]string{
		storage.SchemeS3:    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
		storage.SchemeGCS:   "set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login",
		storage.SchemeAzure: "set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or run az login",
	}[scheme]
	advice, cause, _ := strings.Cut(says, " (")
	if todo == "" || !strings.Contains(advice, "the pod ") {
		return fmt.Errorf("with the credentials of your environment: %w", err)
	}
	if cause != "" {
		cause = " (" + cause
	}
	return fmt.Errorf("your environment has no credentials: %s%s", todo, cause)
}

// groups are the lineages of a bucket.
func groups(url, cluster string, listing snapshot.Listing) []Group {
	all := snapshot.Lineages(listing.Snapshots)
	head, decided := snapshot.Head(all)
	var out []Group
	for _, l := range all {
		if cluster != "" && l.Cluster.Name != cluster {
			continue
		}
		g := Group{
			URL: url, Cluster: nameOf(l.Cluster), ClusterID: l.Cluster.ID, Count: len(l.Snapshots),
			Latest: decided && task.SameCluster(head.Cluster.ID, l.Cluster.ID),
		}
		for _, m := range l.Snapshots {
			g.Snapshots = append(g.Snapshots, Snapshot{
				Name: m.Object, Taken: m.TakenAt.UTC(), Revision: m.Revision, EtcdVersion: m.EtcdVersion, SizeBytes: m.Size,
				StoredBytes: m.StoredSize, Stale: m.Stale, ClusterID: m.Cluster.ID,
			})
		}
		out = append(out, g)
	}
	if bad := problems(listing, len(all), decided); len(bad) > 0 {
		out = append(out, Group{URL: url, Cluster: "beside these", Snapshots: []Snapshot{}, Problems: bad})
	}
	return out
}

func problems(listing snapshot.Listing, lineages int, decided bool) (out []string) {
	if lineages > 1 && !decided {
		out = append(out, "several clusters have backups here, none of which descends from all others: a restore has to name a snapshot "+
			"or a cluster ID")
	}
	for _, d := range listing.Damaged {
		out = append(out, d.Manifest+": "+d.Problem.Message)
	}
	for _, o := range listing.Orphans {
		out = append(out, o.Name+" has no manifest: it is no backup, or is being written")
	}
	return out
}

func nameOf(c task.Cluster) string {
	if c.Name == "" {
		return "not of an EtcdCluster"
	}
	return c.Namespace + "/" + c.Name
}
