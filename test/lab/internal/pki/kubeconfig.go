package pki

import (
	"encoding/json"
	"fmt"
	"os"
)

// WriteKubeconfig writes a kubeconfig that speaks to a server with the named certificate. It holds the certificates
// themselves, so it may be copied.
func (a *Authority) WriteKubeconfig(file, server, name string) error {
	var data [3][]byte
	for i, source := range []string{a.Cert("ca"), a.Cert(name), a.Key(name)} {
		content, err := os.ReadFile(source) // #nosec G304 -- below the lab's state folder
		if err != nil {
			return fmt.Errorf("compose kubeconfig %s: %w", file, err)
		}
		data[i] = content
	}
	type object = map[string]any
	// JSON is YAML too, and byte slices become base64, as a kubeconfig wants them.
	config, err := json.MarshalIndent(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "lab",
		"clusters": []object{{"name": "lab", "cluster": object{
			"server": server, "certificate-authority-data": data[0],
		}}},
		"users": []object{{"name": name, "user": object{
			"client-certificate-data": data[1], "client-key-data": data[2],
		}}},
		"contexts": []object{{"name": "lab", "context": object{"cluster": "lab", "user": name}}},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("compose kubeconfig %s: %w", file, err)
	}
	if err := os.WriteFile(file, append(config, '\n'), 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
