package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
)

// Command is the command, with those below it.
func Command(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup", Short: "Take a backup now, or list those that there are", Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error { return errors.New("say backup now NAME, or backup list NAME") },
	}
	cmd.AddCommand(nowCommand(flags, streams), listCommand(flags, streams))
	return cmd
}

func listCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var p place
	var format string
	cmd := &cobra.Command{
		Use:   "list NAME",
		Short: "List backups, by EtcdBackups or straight from a bucket",
		Long: `List what the EtcdBackups of a cluster say that they have taken. With --url, list what is in a bucket, with the
credentials of your environment, such as AWS_ACCESS_KEY_ID, GOOGLE_APPLICATION_CREDENTIALS or AZURE_STORAGE_KEY:
no Kubernetes cluster is needed, and the name is of those to show only.`,
		Example: `  # What the EtcdBackups say
  kubectl etcd backup list example

  # Where nothing but the bucket is left
  kubectl etcd backup list --url s3://example-bucket/example

  # In a MinIO behind a Service, from outside of its Kubernetes cluster
  kubectl -n storage port-forward service/minio 9000 &
  kubectl etcd backup list --url s3://example-bucket/example --path-style \
    --endpoint https://127.0.0.1:9000 \
    --server-name minio.storage.svc --ca-file ca.crt`,
		Args: members.Args(0, 1, "the name of an EtcdCluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.Check(format); err != nil {
				return err
			}
			groups, err := list(cmd.Context(), flags, p, args)
			if err != nil {
				return err
			}
			if format != "" {
				return output.Marshal(streams.Out, format, groups)
			}
			return write(streams.Out, groups, time.Now())
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json or yaml, for programs")
	p.addFlags(cmd)
	return cmd
}

// addFlags adds the flags that say where a bucket is.
func (p *place) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.target.URL, "url", "", "a bucket and a prefix: s3://, gs://, azblob://, or a folder: file:///")
	cmd.Flags().StringVar(&p.target.Endpoint, "endpoint", "", "the URL of a service other than the cloud's own")
	cmd.Flags().StringVar(&p.target.Region, "region", "", "the region of an S3 bucket, if your environment names none")
	cmd.Flags().BoolVar(&p.target.ForcePathStyle, "path-style", false, "put an S3 bucket into the path, as MinIO and others require")
	cmd.Flags().BoolVar(&p.target.AllowTokens, "allow-tokens", false, "send tokens to that endpoint in any case")
	cmd.Flags().StringVar(&p.target.ServerName, "server-name", "", "the name that the certificate of that endpoint is for, if it is reached by another one")
	cmd.Flags().StringVar(&p.ca, "ca-file", "", "a file with the authorities of that endpoint")
}

// list asks the bucket if one is named, and the EtcdBackups if none is.
func list(ctx context.Context, flags *genericclioptions.ConfigFlags, p place, args []string) ([]Group, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch {
	case p.target.URL != "":
		found, err := p.read(ctx, name)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no backups are in %s", p.target.URL)
		}
		return found, err
	case name == "":
		return nil, errors.New("say of which EtcdCluster, or with --url in which bucket")
	}
	access, err := reach.Open(flags)
	if err != nil {
		return nil, err
	}
	backups, err := access.Backups(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case len(backups) == 0:
		return nil, fmt.Errorf("no EtcdBackup of namespace %s backs up %s; --url lists what is in a bucket", access.Namespace(), name)
	}
	var found []Group
	for _, b := range backups {
		found = append(found, ofBackup(b))
	}
	return found, nil
}
