package node

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"
)

// PauseImage is what the sandbox of every pod runs.
const PauseImage = "registry.k8s.io/pause:3.10"

var (
	//go:embed templates/containerd.toml
	containerdText string
	//go:embed templates/kubelet.yaml
	kubeletText string
	//go:embed templates/cni.conflist
	cniText string
	//go:embed templates/hosts.toml
	hostsText string

	// templates are a node's configuration files, by their path below the node's folder.
	templates = map[string]*template.Template{
		"containerd.toml":           parse("containerd.toml", containerdText),
		"kubelet.yaml":              parse("kubelet.yaml", kubeletText),
		"cni/10-lab.conflist":       parse("cni.conflist", cniText),
		"hosts/_default/hosts.toml": parse("hosts.toml", hostsText),
		"resolv.conf":               parse("resolv.conf", "nameserver {{.DNS}}\n"),
	}
)

func parse(name, text string) *template.Template {
	return template.Must(template.New(name).Parse(text))
}

// values are what the configuration files of a node differ in.
type values struct {
	Dir         string
	CNIBin      string
	PauseImage  string
	Registry    string
	PodCIDR     string
	PodsCgroup  string
	DNS         string
	CACert      string
	KubeletCert string
	KubeletKey  string
}

func render(file *template.Template, values values) ([]byte, error) {
	var out bytes.Buffer
	if err := file.Execute(&out, values); err != nil {
		return nil, fmt.Errorf("render %s: %w", file.Name(), err)
	}
	return out.Bytes(), nil
}
