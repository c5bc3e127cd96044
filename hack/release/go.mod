module github.com/etcdpilot/etcd-operator/hack/release

go 1.26.0

replace (
	github.com/etcdpilot/etcd-operator/hack/tool => ../tool
	github.com/etcdpilot/etcd-operator/test/lab => ../../test/lab
)

require (
	github.com/spf13/cobra v1.10.2
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
)
