package main

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// checkOutput refuses a format before anything is asked.
func checkOutput(format string) error {
	switch format {
	case "", "json", "yaml":
		return nil
	default:
		return fmt.Errorf("-o %s is not known: use json or yaml, or leave it out", format)
	}
}

// marshal writes a value for programs.
func marshal(out io.Writer, format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	} else {
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
