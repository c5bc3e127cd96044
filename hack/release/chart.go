package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/etcdpilot/etcd-operator/hack/release/chart"
)

func chartCommand() *cobra.Command {
	var (
		c                 chart.Chart
		manifests, output string
		variants          []string
	)
	cmd := &cobra.Command{
		Use: "chart", Short: "Write the Helm chart", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := made()
			if err != nil {
				return err
			}
			if c.Manifests, err = os.ReadFile(manifests); err != nil {
				return fmt.Errorf("read the manifests: %w", err)
			}
			for _, argument := range variants {
				variant, err := chart.ReadVariant(argument)
				if err != nil {
					return err
				}
				c.Variants = append(c.Variants, variant)
			}
			return c.Write(output, at)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Source, "source", "", "folder with the chart's values and templates")
	flags.StringVar(&c.Version, "version", "", "version of the chart and of the operator")
	flags.StringVar(&manifests, "manifests", "", "what kustomize renders by default")
	flags.StringArrayVar(&variants, "variant", nil, "FILE=CONDITION of what it renders otherwise, may be repeated")
	flags.StringVar(&output, "output", "", "file to write")
	require(cmd, "source", "version", "manifests", "output")
	return cmd
}
