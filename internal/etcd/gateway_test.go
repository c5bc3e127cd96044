package etcd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestWhoIsAUser holds docs/auth.md and docs/users-and-roles.md to what etcd does: a certificate of a user's name is that user, with or
// without a password; who logs in is who they log in as; and the HTTP gateway is closed to certificates with a common name, and to no others.
func TestWhoIsAUser(t *testing.T) {
	t.Parallel()
	releases(t, func(t *testing.T, s *secured) {
		if err := s.writer("app", "password"); err != nil {
			t.Fatal(err)
		}
		if code, text := s.gateway("client", ""); code != http.StatusOK {
			t.Errorf("the gateway, without authentication: %d, %s", code, text)
		}
		root := s.session("root")
		succeeds(t, "on", func() error { return root.EnableAuth(t.Context(), "first") })
		if err := s.may(s.client("app")); err != nil {
			t.Errorf("a certificate of the user's name, without the password: %v", err)
		}
		if err := s.may(s.client("client")); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.Errorf("another certificate, without the password: %v", err)
		}
		c, err := s.login(s.config("client"), "app", "password")
		if err == nil {
			err = s.may(c)
		}
		if err != nil {
			t.Errorf("another certificate, with the password: %v", err)
		}
		if code, text := s.gateway("app", ""); code != http.StatusBadRequest || !strings.Contains(text, "CommonName of client") {
			t.Errorf("the gateway, with authentication: %d, %s", code, text)
		}
		if code, text := s.gateway("", s.token("app", "password")); code != http.StatusOK {
			t.Errorf("the gateway, without a common name, with the password: %d, %s", code, text)
		}
	})
}

// writer makes a user who may write, before authentication is on.
func (s *secured) writer(name, password string) error {
	c, ctx := s.client("client"), s.t.Context()
	return errors.Join(
		second(c.RoleAdd(ctx, "writer")),
		second(c.RoleGrantPermission(ctx, "writer", "key", "", clientv3.PermissionType(clientv3.PermReadWrite))),
		second(c.UserAdd(ctx, name, password)), second(c.UserGrantRole(ctx, name, "writer")),
	)
}

// gateway reads a key over HTTP, as who has a certificate of that name, or one without a common name.
func (s *secured) gateway(name, token string) (code int, text string) {
	s.t.Helper()
	return s.post(name, "/v3/kv/range", `{"key":"a2V5"}`, token)
}

// token is what who logs in over HTTP gets.
func (s *secured) token(user, password string) string {
	s.t.Helper()
	var got struct{ Token string }
	code, text := s.post("", "/v3/auth/authenticate", fmt.Sprintf(`{"name":%q,"password":%q}`, user, password), "")
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Token == "" {
		s.t.Errorf("%s logs in: %d, %s", user, code, text)
	}
	return got.Token
}

func (s *secured) post(name, path, body, token string) (code int, text string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "https://"+s.endpoint.Address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	config := s.config(name).Clone()
	config.ServerName = serverName
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}
