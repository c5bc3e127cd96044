module github.com/etcdpilot/etcd-operator/hack/release

go 1.26.0

replace (
	github.com/etcdpilot/etcd-operator/hack/tool => ../tool
	github.com/etcdpilot/etcd-operator/test/lab => ../../test/lab
)

require (
	github.com/etcdpilot/etcd-operator/hack/tool v0.0.0-00010101000000-000000000000
	github.com/etcdpilot/etcd-operator/test/lab v0.0.0-00010101000000-000000000000
	github.com/google/go-containerregistry v0.22.1
	github.com/google/licensecheck v0.3.1
	github.com/spf13/cobra v1.10.2
	golang.org/x/mod v0.42.0
	golang.org/x/sync v0.24.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/docker/cli v29.7.2+incompatible // indirect
	github.com/docker/docker-credential-helpers v0.9.3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
