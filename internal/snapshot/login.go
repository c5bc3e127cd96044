package snapshot

import (
	"context"
	"fmt"
	"time"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// loginTimeout is how long a member may take to log a user in: longer than etcd takes by itself to notice that it has no quorum.
const loginTimeout = 10 * time.Second

// loggedIn returns the configuration with a token in place of the password. All members know that one, so etcd checks the password, which
// is made to be expensive, once for a snapshot; with the password itself each connection and each stream would have it checked. A token
// is asked for when a request begins: it may expire while the stream goes on.
//
// One member is asked after the other, and none after one that refuses.
func loggedIn(ctx context.Context, config etcdclient.Config) (etcdclient.Config, error) {
	user, password := config.Username, config.Password
	config.Username, config.Password = "", ""
	if user == "" {
		return config, nil
	}
	var problem error
	for _, endpoint := range config.Endpoints {
		token, err := logIn(ctx, config, endpoint, user, password)
		if err == nil {
			config.Token = token
			return config, nil
		}
		problem = explainLogin(endpoint, err)
		if etcdclient.Denied(err) || ctx.Err() != nil {
			break
		}
	}
	return config, problem
}

func logIn(ctx context.Context, config etcdclient.Config, endpoint, user, password string) (token string, err error) {
	client, err := connect(ctx, config, endpoint)
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	limited, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	return client.Login(limited, user, password)
}

// explainLogin does not name the user: what is in a Secret stays there, also what was put under the wrong key.
func explainLogin(endpoint string, err error) error {
	p := problemOf(endpoint, err)
	if etcdclient.Denied(err) {
		p.Message = fmt.Sprintf("%s: etcd refuses the user or the password (%v)", endpoint, err)
	} else {
		p.Message = fmt.Sprintf("%s: the login failed; it takes a member that can be reached and has a quorum (%v)", endpoint, err)
	}
	return failure.Because(err, p)
}
