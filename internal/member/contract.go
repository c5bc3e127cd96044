package member

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// PermitAnnotation is the pod annotation that holds the permit.
const PermitAnnotation = "etcd.database.coreos.com/permit"

// Paths in the etcd container. The data directory is coreos/etcd-operator's.
const (
	DataMount  = "/var/etcd"
	DataDir    = "/var/etcd/data"
	RunDir     = "/run/member-run"
	PermitDir  = "/etc/member-run"
	PermitFile = "permit"
)

// Environment of the etcd container.
const (
	EnvConfig = "MEMBER_CONFIG"
	EnvPodUID = "POD_UID"
	EnvPodIP  = "POD_IP"
)

// Config is what a member keeps for its whole life.
type Config struct {
	Name      string `json:"name"`
	PeerURL   string `json:"peerURL"`
	ClientURL string `json:"clientURL"`
	DataDir   string `json:"dataDir"`
	// Options are keys of etcd's configuration file and their values as text; see OptionsFromEnv.
	Options map[string]string `json:"options,omitempty"`
}

// ID is an etcd member or cluster ID; in JSON it is 16 hexadecimal digits.
type ID uint64

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(id)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is not an ID: %w", text, err)
	}
	*id = ID(n)
	return nil
}

// Mode says what a permit allows.
type Mode string

// Modes of a permit.
const (
	// ModeNew starts a first member on an empty directory.
	ModeNew Mode = "new"
	// ModeJoin starts an added learner on an empty directory.
	ModeJoin Mode = "join"
	// ModeResume starts only from the data that is there.
	ModeResume Mode = "resume"
)

// Permit is the operator's word that etcd may start, and as whom.
type Permit struct {
	Mode      Mode `json:"mode"`
	ClusterID ID   `json:"clusterID"`
	MemberID  ID   `json:"memberID"`
	// InitialCluster is etcd's name=url list, and Token its initial-cluster-token; both empty in ModeResume.
	InitialCluster string `json:"initialCluster,omitempty"`
	Token          string `json:"token,omitempty"`
	// PodUID is the only pod that may start on an empty directory, and Attempt counts the permits it got, from 1: each
	// is good for one start on an empty directory.
	PodUID  string `json:"podUID,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// Encode returns the permit as the annotation holds it.
func (p *Permit) Encode() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the permit: %w", err)
	}
	return string(text), nil
}

// ParsePermit reads what Encode wrote.
func ParsePermit(text string) (*Permit, error) {
	p := &Permit{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("decode the permit: %w", err)
	}
	switch p.Mode {
	case ModeNew, ModeJoin, ModeResume:
		return p, nil
	}
	return nil, fmt.Errorf("decode the permit: %q is not a mode", p.Mode)
}

// Reasons of a refusal.
const (
	// DataLost means that there is no write-ahead log and no unused permit to start without one.
	DataLost = "DataLost"
	// ForeignData means that the directory holds the data of another member or cluster.
	ForeignData = "ForeignData"
	// BadConfig means that etcd cannot be configured as asked, or not be run at all.
	BadConfig = "BadConfig"
)

// Refusal is the termination message of a member-run that did not start etcd.
type Refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Message }

// ParseRefusal reads a container's termination message; ok is false for one that member-run did not write.
func ParseRefusal(text string) (refusal Refusal, ok bool) {
	err := json.Unmarshal([]byte(text), &refusal)
	return refusal, err == nil && refusal.Reason != ""
}
