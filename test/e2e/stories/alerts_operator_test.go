package stories

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
	"github.com/etcdpilot/etcd-operator/test/e2e/rights"
)

// operator is what the alert is about.
func (s *alerted) operator() {
	ready(s.t)
	s.known = operatorUp
	s.tells("the operator", operatorUp)
	if s.alert == "EtcdOperatorErrors" {
		s.selected = `controller="etcduser"`
	}
}

// stopsOperator leaves no operator.
func (s *alerted) stopsOperator() {
	s.t.Cleanup(func() { s.within(s.t).scaleOperator("1") })
	s.scaleOperator("0")
}

// startsOperator has one again.
func (s *alerted) startsOperator() {
	s.runs("scale deployment", "")
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	must(s.t, env.Run(ctx, "rollout", "status", "--timeout=2m", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment))
}

// takesRight takes a right from the operator's role that it needs for each of many EtcdUsers. A pass that fails is repeated after half a
// minute, which no test makes shorter: so that there are as many failures in a short time, there are many objects.
func (s *alerted) takesRight() {
	const users, taken = 20, "etcdusers/status"
	takenAway = append(takenAway, rights.Grant{Verb: "update", Group: v1beta2.GroupVersion.Group, Resource: taken})
	role := &rbacv1.ClusterRole{}
	must(s.t, env.Get(s.t.Context(), client.ObjectKey{Name: "etcd-operator-manager-role"}, role))
	before, had := role.DeepCopy(), false
	for i := range role.Rules {
		had = had || slices.Contains(role.Rules[i].Resources, taken)
		role.Rules[i].Resources = slices.DeleteFunc(role.Rules[i].Resources, func(name string) bool { return name == taken })
	}
	if !had {
		s.t.Fatalf("%s grants nothing about %s: %+v", role.Name, taken, role.Rules)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := env.DeployMonitored(ctx); err != nil { // a namespace with EtcdUsers does not go without it
			s.t.Error(err)
		}
	})
	must(s.t, env.Patch(s.t.Context(), role, client.MergeFrom(before)))
	for i := range users {
		must(s.t, env.Create(s.t.Context(), &v1beta2.EtcdUser{
			ObjectMeta: s.object(fmt.Sprintf("user-%d", i)), Spec: v1beta2.EtcdUserSpec{
				EtcdCluster: v1beta2.EtcdClusterRef{Name: "none"}, PasswordSecretRef: &v1beta2.SecretKeyRef{Name: "none"},
			},
		}))
	}
}

// appliesAgain applies what the operator was installed from.
func (s *alerted) appliesAgain() {
	folder := s.t.TempDir()
	must(s.t, os.Mkdir(filepath.Join(folder, "dist"), 0o700))
	must(s.t, env.RenderMonitored(s.t.Context(), filepath.Join(folder, "dist", "install.yaml")))
	s.runs("dist/install.yaml", folder)
}
