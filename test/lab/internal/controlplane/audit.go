package controlplane

import (
	"fmt"
	"os"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/state"
)

// AuditedUser is whose requests the API server notes: the ServiceAccount that config/default gives the operator.
const AuditedUser = "system:serviceaccount:etcd-operator-system:etcd-operator-controller-manager"

// auditLog is the name of the log of requests, beside those of the components.
const auditLog = APIServer + "-audit"

// Of the log of requests the last 500 MiB are kept, which are some hundred thousand requests.
const (
	auditFileMiB = "50"
	auditFiles   = "9" // beside the one that is written
)

// auditPolicy notes who asked for what, and how that was answered, and no contents. A watch is noted when it begins, too.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + AuditedUser + `"]
- level: None
`

func auditPolicyFile(dir state.Dir) string { return dir.Join("audit-policy.yaml") }

// AuditLogs is a pattern of the files of the log of requests. In order of their names they are in order of time: those that are
// full have the time in theirs, before the dot.
func AuditLogs(dir state.Dir) string { return dir.Log(auditLog + "*") }

func auditArgs(dir state.Dir) []string {
	return []string{
		"--audit-policy-file=" + auditPolicyFile(dir),
		"--audit-log-path=" + dir.Log(auditLog),
		"--audit-log-maxsize=" + auditFileMiB,
		"--audit-log-maxbackup=" + auditFiles,
	}
}

func ensureAuditPolicy(dir state.Dir) error {
	// #nosec G306 -- no secret
	if err := os.WriteFile(auditPolicyFile(dir), []byte(auditPolicy), 0o644); err != nil {
		return fmt.Errorf("write the API server's audit policy: %w", err)
	}
	return nil
}
