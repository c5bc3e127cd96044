package agent

import (
	"encoding/json"
	"strings"
	"testing"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/task"
)

const rootPassword = "root-password" // #nosec G101 -- of a test

// authenticate makes root and a user without roles, and switches authentication on.
func (s *server) authenticate(t *testing.T) {
	t.Helper()
	for user, password := range map[string]string{"root": rootPassword, "reader": "reader-password"} {
		if _, err := s.UserAdd(t.Context(), user, password); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAuthentication wants it to be said who may take a snapshot, and how, where etcd asks for a user.
func TestAuthentication(t *testing.T) {
	s := start(t)
	s.authenticate(t)
	ofCluster := s.backup(plain)
	endpoints := s.backup(func(b *task.Backup) { b.Cluster = task.Cluster{} })
	safety := task.Task{Backup: ofCluster.Backup, Writer: task.Writer{Kind: "EtcdRestore", Namespace: "ns", Name: "back", UID: "uid"}}
	for title, c := range map[string]struct {
		task         task.Task
		says, silent string
	}{
		"an EtcdCluster":    {ofCluster, "enabled in EtcdCluster ns/example, where the operator has no user", "set spec"},
		"a way out":         {ofCluster, "by spec.etcdEndpoints, with the password of a user", "set spec"},
		"its price":         {ofCluster, "cannot be restored into one without TLS", "set spec"},
		"of an EtcdRestore": {safety, "etcdctl auth disable", "spec.etcdEndpoints"},
		"endpoints":         {endpoints, "set spec.passwordSecretRef to the password of a user", "EtcdCluster"},
		"or a certificate":  {endpoints, "or spec.clientTLSSecret to the client certificate of one", "EtcdCluster"},
	} {
		t.Run(title, func(t *testing.T) {
			p := newPod(t)
			got := p.fails(c.task, v1beta2.ReasonEtcdAccessDenied, true)
			if !strings.Contains(got, c.says) || strings.Contains(got, c.silent) {
				t.Errorf("it says %q", got)
			}
			if stored := p.stored(); len(stored) > 0 {
				t.Errorf("left %v", stored)
			}
		})
	}
}

// login is a backup by somebody who logs in.
func (s *server) login(key string) task.Task {
	return s.backup(func(b *task.Backup) {
		b.Cluster, b.Login = task.Cluster{}, &v1beta2.SecretKeyRef{Name: "old", Key: key}
	})
}

// TestPassword backs up an etcd whose users log in.
func TestPassword(t *testing.T) {
	s := start(t)
	before := s.put(t, 3)
	p := newPod(t)
	p.secret(p.dirs.Login, map[string][]byte{task.KeyPassword: []byte(rootPassword)})
	if m := p.must(s.login("password")).Snapshot; m.Revision != before {
		t.Errorf("while nobody needs a password: got %+v", m)
	}
	s.put(t, 1)
	s.authenticate(t)
	if m := p.must(s.login("etcd-root-password")).Snapshot; m.Revision != before+1 {
		t.Errorf("got %+v", m)
	}
}

// TestPasswordRefused wants to know which field is wrong, and in which way, and to see nothing of what is in the Secret.
func TestPasswordRefused(t *testing.T) {
	s := start(t)
	s.authenticate(t)
	for title, c := range map[string]struct {
		secret   map[string]string
		terminal bool
		says     string
	}{
		"no Secret or key":   {nil, false, `the Secret "old" that passwordSecretRef names does not exist, or has no key "token": create it, put the password there, or name its key in spec.passwordSecretRef.key`},
		"no such key":        {map[string]string{"username": "reader"}, true, `the Secret "old" that passwordSecretRef names has no key "token", or nothing in it`},
		"an empty password":  {map[string]string{"password": ""}, true, `has no key "token", or nothing in it`},
		"no text":            {map[string]string{"password": "\xff\xfesecret"}, true, `the Secret "old" that passwordSecretRef names has no text in UTF-8 under the key "token"`},
		"a user of no text":  {map[string]string{"username": "\xffroot", "password": rootPassword}, true, `has no text in UTF-8 under the key "username"`},
		"a wrong password":   {map[string]string{"password": "reader-password"}, true, `does not accept what the key token of that Secret holds as the password of the user root (Secret "old" has no key username)`},
		"a line break":       {map[string]string{"password": rootPassword + "\n"}, true, "where a line break counts"},
		"a stranger":         {map[string]string{"username": "stranger", "password": rootPassword}, true, `as the password of the user that the key username of Secret "old" names`},
		"a user's name cut":  {map[string]string{"username": "root\n", "password": rootPassword}, true, "or the user's name"},
		"a user without all": {map[string]string{"username": "reader", "password": "reader-password"}, true, `spec.passwordSecretRef: the etcd user that the key username of Secret "old" names needs the role root`},
	} {
		t.Run(title, func(t *testing.T) {
			p, keys := newPod(t), map[string][]byte{}
			for key, value := range c.secret {
				keys[key] = []byte(value)
			}
			p.secret(p.dirs.Login, keys)
			result := p.run(s.login("token"))
			f := result.Failure
			if f == nil || f.Reason != v1beta2.ReasonEtcdAccessDenied || f.Terminal != c.terminal || !strings.Contains(f.Message, c.says) {
				t.Fatalf("got %+v", f)
			}
			text, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range c.secret {
				if value != "" && strings.Contains(string(text), strings.TrimSpace(value)) && value != "root\n" {
					t.Errorf("%q is in %s", value, text)
				}
			}
			if stored := p.stored(); len(stored) > 0 {
				t.Errorf("left %v", stored)
			}
		})
	}
}
