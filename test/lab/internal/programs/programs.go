package programs

import (
	"context"
	"io"

	"github.com/etcdpilot/etcd-operator/hack/tool/build"
)

// OldEtcds lists etcd's patch releases before the current ones, so that a patch upgrade can be tried.
func OldEtcds() []string { return []string{"etcd35-previous", "etcd36-previous", "etcd37-previous"} }

// Tools lists the tools that every lab runs on, the one that takes longest to build first.
func Tools() []string {
	tools := []string{
		build.Kubernetes, build.Containerd, build.CNI, build.CoreDNS, build.LocalPath,
		build.Etcd35, build.Etcd36, build.Etcd37,
	}
	return append(tools, OldEtcds()...)
}

// EnsureTools returns tools by name, all of whose programs are built now if they are not in the cache.
func EnsureTools(ctx context.Context, builder *build.Builder, names []string) (map[string]build.Tool, error) {
	tools := map[string]build.Tool{}
	for _, name := range names {
		tool, err := builder.Ensure(ctx, name)
		if err != nil {
			return nil, err
		}
		tools[name] = tool
	}
	return tools, nil
}

// EnsureDebian installs the Debian packages that every lab needs and this machine lacks. None of their programs can be
// built as static Go. Out gets a line if anything is installed.
func EnsureDebian(ctx context.Context, out io.Writer) error {
	return build.EnsurePrograms(ctx, out, []build.Need{
		{Program: "runc", Package: "runc"},
		{Program: "iptables", Package: "iptables"},
		{Program: "nft", Package: "nftables"},
		{Program: "ip", Package: "iproute2"},
		{Program: "conntrack", Package: "conntrack"},
		{Program: "busybox", Package: "busybox-static"},
		{Program: "mkfs.ext4", Package: "e2fsprogs"},
	})
}
