package packaging

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// root is the top of the source tree.
const root = "../.."

const csvFile = "bundle/manifests/etcd-operator.clusterserviceversion.yaml"

// csv is what the tests read of a ClusterServiceVersion.
type csv struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Version     string `json:"version"`
		Description string `json:"description"`
		Icon        []struct {
			Data []byte `json:"base64data"`
		} `json:"icon"`
		Install struct {
			Spec struct {
				Deployments []struct {
					Spec deployment `json:"spec"`
				} `json:"deployments"`
				Permissions        []permission `json:"permissions"`
				ClusterPermissions []permission `json:"clusterPermissions"`
			} `json:"spec"`
		} `json:"install"`
		Definitions struct {
			Owned []crd `json:"owned"`
		} `json:"customresourcedefinitions"`
		RelatedImages []image `json:"relatedImages"`
	} `json:"spec"`
}

type deployment struct {
	Template struct {
		Spec struct {
			Containers []struct {
				Image string `json:"image"`
			} `json:"containers"`
		} `json:"spec"`
	} `json:"template"`
}

// permission is what OLM grants a ServiceAccount.
type permission struct {
	Rules []rule `json:"rules"`
}

// rule is a rule of a Role or a ClusterRole.
type rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
	Verbs         []string `json:"verbs"`
}

type crd struct {
	Kind   string       `json:"kind"`
	Spec   []descriptor `json:"specDescriptors"`
	Status []descriptor `json:"statusDescriptors"`
}

type descriptor struct {
	Path string `json:"path"`
}

type image struct {
	Name  string `json:"name"`
	Image string `json:"image"`
}

// read gives a file of the source tree.
func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// releaseVersion is what the Makefile is at, and documents name.
func releaseVersion(t *testing.T) string {
	t.Helper()
	is := os.Getenv("VERSION")
	if is == "" {
		t.Fatal("VERSION is not set: run make test-bundle")
	}
	return is
}

func readCSV(t *testing.T) csv {
	t.Helper()
	var c csv
	if err := yaml.Unmarshal(read(t, csvFile), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// asset gives the path of a program, which make test-bundle builds.
func asset(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set: run make test-bundle", variable)
	}
	return path
}
