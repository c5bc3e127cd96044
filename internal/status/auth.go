package status

import (
	"k8s.io/apimachinery/pkg/api/meta"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
	"github.com/etcdpilot/etcd-operator/internal/authentication"
)

// Auth is what is known of, and done about, etcd's authentication.
type Auth struct {
	// Decision is the one of this pass, with what is to be recorded of the user root.
	authentication.Decision
	Wanted authentication.Wanted
	// Known is true if etcd has said whether authentication is on, and Enabled what it has said, or what it was made since.
	Known, Enabled bool
}

// setAuth shows etcd's authentication. What is unknown stays as it was.
func setAuth(s *v1beta2.EtcdClusterStatus, in Input) {
	known := in.Auth
	switch {
	case known == nil:
		s.Auth, s.RootUser = nil, nil
		return
	case known.Known && known.Wanted == authentication.Unmanaged && !known.Enabled:
		s.Auth = nil
	case known.Known:
		s.Auth = &v1beta2.AuthStatus{Enabled: known.Enabled}
	case s.Auth == nil:
		s.Auth = &v1beta2.AuthStatus{}
	}
	s.RootUser = nil
	if r := known.Record; r != (authentication.Root{}) {
		s.RootUser = &v1beta2.InternalAuthStatus{ClusterID: r.ClusterID, RootPassword: r.Password}
	}
}

// authenticated says whether etcd's authentication is on; nil if that stays as it was said before.
func authenticated(s *v1beta2.EtcdClusterStatus, in Input) *verdict {
	known := in.Auth
	if known == nil || s.Auth == nil {
		return nil
	}
	on := s.Auth.Enabled
	switch {
	case known.Problem != nil:
		return &verdict{on && known.Problem.Reason != v1beta2.ReasonOperatorNotRoot, known.Problem.Reason, known.Problem.Message}
	case known.Doing != "":
		return &verdict{on, v1beta2.ReasonSwitchingAuthentication, known.Doing}
	case !known.Known && meta.FindStatusCondition(s.Conditions, v1beta2.ConditionAuthenticated) != nil:
		return nil
	case !known.Known:
		return &verdict{false, v1beta2.ReasonAuthenticationUnknown, "etcd was not asked yet whether its authentication is on"}
	case on && known.Wanted == authentication.Unmanaged:
		return &verdict{true, v1beta2.ReasonAuthenticationOn, "etcd's authentication is on, and stays on without spec.auth: set " +
			"spec.auth.enabled to false to switch it off"}
	case on:
		return &verdict{true, v1beta2.ReasonAuthenticationOn, "etcd's authentication is on, and the operator is its user root"}
	}
	return &verdict{false, v1beta2.ReasonAuthenticationOff, "etcd's authentication is off, as spec.auth asks"}
}
