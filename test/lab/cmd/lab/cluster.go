package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/test/lab"
)

func upCommand() *cobra.Command {
	options := lab.Options{}
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the lab, or what is missing of it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Out = cmd.ErrOrStderr()
			running, err := lab.Up(cmd.Context(), options)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "export KUBECONFIG=%s\nexport PATH=$PATH:%s\n",
				running.Kubeconfig(), strings.TrimSuffix(running.Kubectl(), "/kubectl"))
			return err
		},
	}
	cmd.Flags().IntVar(&options.Nodes, "nodes", lab.DefaultNodes, "number of nodes")
	return cmd
}

func downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "End the lab and remove all that it made",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lab.Down(cmd.Context(), cmd.ErrOrStderr())
		},
	}
}

func kubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the administrator's kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), running.Kubeconfig())
			return err
		},
	}
}

func statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the lab's processes and nodes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			status, err := running.Status(cmd.Context())
			if err != nil {
				return err
			}
			return printStatus(cmd.OutOrStdout(), status)
		},
	}
}

func printStatus(out io.Writer, status lab.Status) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPONENT\tPID\tSTATE\tLOG")
	for _, component := range status.Components {
		state := "running"
		if !component.Alive {
			state = "dead"
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", component.Name, component.PID, state, component.LogFile)
	}
	_, _ = fmt.Fprintln(table, "\nNODE\tCABLE\tPARTITIONED FROM\tSILENT TO")
	for _, node := range status.Nodes {
		cable := "plugged in"
		if !node.Connected {
			cable = "pulled"
		} else if node.Slow {
			cable = "slow"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n",
			node.Name, cable, strings.Join(node.PartitionedFrom, " "), strings.Join(node.SilentTo, " "))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if status.API != nil {
		return fmt.Errorf("the API is not ready: %w", status.API)
	}
	return nil
}

func logsCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs COMPONENT",
		Short: "Print the log of a component that status names",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			running, err := lab.Attach()
			if err != nil {
				return err
			}
			file := running.LogFile(args[0])
			tail := []string{"--lines=+1", file}
			if follow {
				tail = []string{"--lines=20", "--follow", file}
			}
			printer := exec.CommandContext(cmd.Context(), "tail", tail...) // #nosec G204 -- a log of the lab
			printer.Stdout, printer.Stderr = os.Stdout, os.Stderr
			return printer.Run()
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print the end, and what is added, until interrupted")
	return cmd
}
