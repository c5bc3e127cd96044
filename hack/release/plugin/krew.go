package plugin

// What krew reads: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type (
	manifest struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Spec       spec              `json:"spec"`
	}
	spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Platforms        []download `json:"platforms"`
	}
	download struct {
		Selector selector `json:"selector"`
		URI      string   `json:"uri"`
		SHA256   string   `json:"sha256"`
		Bin      string   `json:"bin"`
	}
	selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
)

// manifest is krew's of the plugin, without the platforms.
func (p Plugin) manifest() manifest {
	return manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "etcd"},
		Spec: spec{
			Version: "v" + p.Version, Homepage: p.Source + "/blob/v" + p.Version + "/docs/kubectl-etcd.md",
			ShortDescription: "Show, diagnose and mend etcd clusters",
			Description: "Shows an EtcdCluster of etcd-operator as its members see themselves, says what is wrong and what the\n" +
				"operator does next, takes and restores backups, and runs etcdctl.\n",
		},
	}
}
