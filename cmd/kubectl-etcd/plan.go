package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/decision"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/members"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/output"
	"github.com/etcdpilot/etcd-operator/cmd/kubectl-etcd/reach"
	"github.com/etcdpilot/etcd-operator/internal/plan/replay"
)

// planOptions are the flags of both commands.
type planOptions struct {
	format string
	set    []string
	rules  bool
}

func (o *planOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "output", "o", "", "json or yaml, for programs")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "a field of the spec as it might be: size=N, version=V, paused=true or hibernate=true; can be repeated")
	cmd.Flags().BoolVar(&o.rules, "rules", false, "show which rules and guards were asked, in order")
}

// check refuses flags before anything is read.
func (o *planOptions) check() error {
	if o.format != "" && o.rules {
		return errors.New("--rules is for people: leave out -o, or --rules")
	}
	return errors.Join(output.Check(o.format), decision.CheckSet(o.set))
}

func planCommand(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	options := &planOptions{}
	cmd := &cobra.Command{
		Use:   "plan NAME",
		Short: "Say what the operator does next, and what follows",
		Long: `Take from the operator's log what it last observed of a cluster, and decide on that with the same rules as
the operator: now, and with --set as if the spec had been edited. What follows comes from a run of the model in which
these rules are tested, where nothing fails. Then it says what Auto Pilot holds, and why. It changes nothing. The operator logs what it observes if the EtcdCluster
has the annotation etcd.database.coreos.com/log-observed.`,
		Example: `  # What does it do, and by which rule?
  kubectl etcd plan example

  # How would an update go?
  kubectl etcd plan example --set version=3.7.3`,
		Args:              members.Args(1, 1, "the name of an EtcdCluster"),
		ValidArgsFunction: clusterNames(flags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := options.check(); err != nil {
				return err
			}
			access, err := reach.Open(flags)
			if err != nil {
				return err
			}
			pass, err := access.LastObserved(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return options.show(streams, []replay.Pass{pass})
		},
	}
	options.add(cmd)
	cmd.AddCommand(replayCommand(streams))
	return cmd
}

func replayCommand(streams genericiooptions.IOStreams) *cobra.Command {
	options := &planOptions{}
	cmd := &cobra.Command{
		Use:   "replay FILE|-",
		Short: "The same, from a log of the operator that somebody has kept",
		Example: `  kubectl etcd plan replay observed.log
  kubectl -n etcd-operator-system logs deploy/etcd-operator-controller-manager |
    kubectl etcd plan replay -`,
		Args: members.Args(1, 1, "a file with a log of the operator, or - for the standard input"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := options.check(); err != nil {
				return err
			}
			text, err := input(streams, args[0])
			if err != nil {
				return err
			}
			passes, err := replay.Read(text)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return options.show(streams, passes)
		},
	}
	options.add(cmd)
	return cmd
}

func input(streams genericiooptions.IOStreams, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(streams.In)
	}
	return os.ReadFile(file)
}

// show reports on each decision; for programs there is a list if there are several.
func (o *planOptions) show(streams genericiooptions.IOStreams, passes []replay.Pass) error {
	var all []*decision.Report
	for _, p := range passes {
		r, err := decision.Of(p, o.set)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	switch {
	case o.format != "" && len(all) == 1:
		return output.Marshal(streams.Out, o.format, all[0])
	case o.format != "":
		return output.Marshal(streams.Out, o.format, all)
	}
	for i, r := range all {
		if i > 0 {
			_, _ = fmt.Fprintln(streams.Out) // the next write tells
		}
		err := r.Write(streams.Out, time.Now(), output.Coloured(streams))
		if o.rules && err == nil {
			_, _ = fmt.Fprintln(streams.Out)
			err = r.Explain(streams.Out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
