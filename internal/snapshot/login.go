package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	"github.com/etcdpilot/etcd-operator/internal/etcdclient"
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// loginTimeout is how long a member may take to log a user in: longer than etcd takes by itself to notice that it has no quorum.
const loginTimeout = 10 * time.Second

// loggedIn returns the configuration with a token in place of the password. All members know that one, so etcd checks the password, which
// is made to be expensive, once for a snapshot; with the password itself each connection and each stream would have it checked. A token
// is asked for when a request begins: it may expire while the stream goes on.
//
// One member is asked after the other, and none after one that refuses. With the token only confidants are left to be asked.
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
			if token != "" {
				config.Endpoints = confidants(config.Endpoints, endpoint)
			}
			return config, nil
		}
		problem = err
		if etcdclient.Denied(err) || ctx.Err() != nil {
			break
		}
	}
	return config, problem
}

// confidants are the endpoints that may see a token: the one that has checked the password for it, and those that have to show a
// certificate. Any other may be somebody else's by now, and whoever sees the token can do everything in etcd with it.
func confidants(endpoints []string, accepted string) []string {
	return slices.DeleteFunc(slices.Clone(endpoints), func(e string) bool { return e != accepted && !strings.HasPrefix(e, "https://") })
}

// logIn does not show the password to a server that does not answer as etcd does.
func logIn(ctx context.Context, config etcdclient.Config, endpoint, user, password string) (token string, err error) {
	client, err := connect(ctx, config, endpoint)
	if err != nil {
		return "", explainLogin(endpoint, err, err.Error())
	}
	defer func() { _ = client.Close() }()
	if err := greet(ctx, client); err != nil {
		return "", explainLogin(endpoint, err, err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	token, err = client.Login(limited, user, password)
	if err != nil {
		return "", explainLogin(endpoint, err, known(err))
	}
	return token, nil
}

// greet returns why a server does not answer as etcd does. That etcd wants to know who asks is an answer.
func greet(ctx context.Context, client *etcdclient.Client) error {
	limited, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	if _, err := client.Status(limited); !etcdclient.Refused(err) {
		return err
	}
	return nil
}

// known is what etcd has answered to a password, if that is one of its own texts, and else only the code: another text may repeat the
// password.
func known(err error) string {
	if etcdclient.Refused(err) {
		return err.Error()
	}
	if s, ok := status.FromError(err); ok {
		return "gRPC code " + s.Code().String()
	}
	return "gRPC code " + status.FromContextError(err).Code().String()
}

// explainLogin does not name the user: what is in a Secret stays there, also what was put under the wrong key.
func explainLogin(endpoint string, err error, text string) error {
	p := problemOf(endpoint, err)
	if etcdclient.Denied(err) {
		p.Message = fmt.Sprintf("%s: etcd refuses the user or the password (%s)", endpoint, text)
	} else {
		p.Message = fmt.Sprintf("%s: the login failed; it takes a member that can be reached and has a quorum (%s)", endpoint, text)
	}
	return failure.Because(err, p)
}

// withhold takes a token out of what a server says: it is as good as the password while it is valid.
func withhold(token string, err error) error {
	p, ok := failure.Of(err)
	if token == "" || !ok || !strings.Contains(p.Message, token) {
		return err
	}
	p.Message = strings.ReplaceAll(p.Message, token, "…")
	return failure.Because(err, p)
}
