package harness

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
)

// Etcd connects to one member through its pod's address, which works where the tests run beside the nodes: over TLS with the
// certificate for applications if the cluster has one. The caller closes the client.
func (c *Cluster) Etcd(pod corev1.Pod) (*clientv3.Client, error) {
	if pod.Status.PodIP == "" {
		return nil, fmt.Errorf("pod %s has no address", pod.Name)
	}
	config, err := c.clientConfig(pod)
	if err != nil {
		return nil, err
	}
	return connect(pod, config, "", "")
}

// connect connects to one member, and logs in if there is a user.
func connect(pod corev1.Pod, config *tls.Config, user, password string) (*clientv3.Client, error) {
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{scheme + net.JoinHostPort(pod.Status.PodIP, "2379")},
		TLS:         config,
		DialOptions: DialOptions(config),
		DialTimeout: time.Second,
		Username:    user,
		Password:    password,
		Logger:      zap.NewNop(), // errors are returned
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", pod.Name, err)
	}
	return client, nil
}

// Ask calls one member after the other until one has answered without an error.
func (c *Cluster) Ask(ctx context.Context, question func(context.Context, *clientv3.Client) error) error {
	return c.ask(ctx, c.Etcd, question)
}

// ask calls one member after the other, each by a connection of its own.
func (c *Cluster) ask(ctx context.Context, connect func(corev1.Pod) (*clientv3.Client, error),
	question func(context.Context, *clientv3.Client) error,
) error {
	pods, err := c.Pods(ctx)
	if err != nil {
		return err
	}
	err = fmt.Errorf("%s has no pods", c.Name)
	for _, pod := range pods {
		var client *clientv3.Client
		if client, err = connect(pod); err != nil {
			continue
		}
		one, cancel := context.WithTimeout(ctx, 5*time.Second)
		err = question(one, client)
		cancel()
		_ = client.Close()
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("ask etcd of %s: %w", c.Name, err)
}

// Members are those that etcd itself lists.
func (c *Cluster) Members(ctx context.Context) (members *clientv3.MemberListResponse, err error) {
	return members, c.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) (err error) {
		members, err = etcd.MemberList(ctx)
		return err
	})
}

// Leader is the pod of the member that leads, as that member says itself.
func (c *Cluster) Leader(ctx context.Context) (*corev1.Pod, error) {
	pods, err := c.Pods(ctx)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		client, err := c.Etcd(pod)
		if err != nil {
			continue
		}
		one, cancel := context.WithTimeout(ctx, time.Second)
		status, err := client.Status(one, client.Endpoints()[0])
		cancel()
		_ = client.Close()
		if err == nil && status.Leader != 0 && status.Leader == status.Header.MemberId {
			return &pod, nil
		}
	}
	return nil, fmt.Errorf("no member of %s leads", c.Name)
}

// MoveLeader hands the leadership over to another member's pod.
func (c *Cluster) MoveLeader(ctx context.Context, to corev1.Pod) error {
	leader, err := c.Leader(ctx)
	if err != nil || leader.Name == to.Name {
		return err
	}
	target, err := c.Etcd(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	status, err := target.Status(ctx, target.Endpoints()[0])
	if err != nil {
		return fmt.Errorf("ask %s: %w", to.Name, err)
	}
	source, err := c.Etcd(*leader)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	if _, err := source.MoveLeader(ctx, status.Header.MemberId); err != nil {
		return fmt.Errorf("move the leadership to %s: %w", to.Name, err)
	}
	return nil
}

// Puts writes so many keys below a prefix.
func (c *Cluster) Puts(ctx context.Context, prefix string, n int) error {
	for i := range n {
		err := c.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
			_, err := etcd.Put(ctx, fmt.Sprintf("%s/%03d", prefix, i), prefix)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Has is an error if there are not so many keys below a prefix.
func (c *Cluster) Has(ctx context.Context, prefix string, want int64) error {
	return c.Ask(ctx, func(ctx context.Context, etcd *clientv3.Client) error {
		got, err := etcd.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && got.Count != want {
			return fmt.Errorf("there are %d keys below %s, want %d", got.Count, prefix, want)
		}
		return err
	})
}
