package network

import (
	"context"
	"fmt"
	"slices"
)

// cutTable is the prefix of the tables, on the host, whose rules cut off one of its servers, whose name follows.
const cutTable = "lab_cut_"

// Cut lets so many bytes more, headers included, through to a port of the host's address, counted over all
// connections. Then it resets connections to it, and refuses new ones. A cut of the same name is replaced.
func Cut(ctx context.Context, name string, port int, bytes int64) error {
	_, err := output(ctx, []byte(cutRules(name, port, bytes)), "nft", "-f", "-")
	return err
}

// Mend undoes Cut. Without a cut of that name it does nothing.
func Mend(ctx context.Context, name string) error {
	cuts, err := Cuts(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(cuts, name) {
		return nil
	}
	return run(ctx, []step{must("nft delete table ip " + cutTable + name)})
}

// Cuts lists the names of all cuts.
func Cuts(ctx context.Context) ([]string, error) {
	names, err := listTables(ctx)
	return peers(names, cutTable), err
}

func cutRules(name string, port int, bytes int64) string {
	return fmt.Sprintf(`table ip %[1]s
delete table ip %[1]s
table ip %[1]s {
	chain in { type filter hook input priority -300; ip daddr %[2]s tcp dport %[3]d quota over %[4]d bytes reject with tcp reset; }
}
`, cutTable+name, HostIP, port, bytes)
}
