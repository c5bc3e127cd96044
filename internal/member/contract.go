package member

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// PermitAnnotation is the pod annotation that holds the permit.
const PermitAnnotation = "etcd.database.coreos.com/permit"

// Paths in the etcd container. The data directory is coreos/etcd-operator's.
const (
	// DataMount is where the volume is mounted, DataDir the folder in it that etcd gets: the root of a volume may hold
	// a lost+found, which etcd takes for foreign.
	DataMount = "/var/etcd"
	DataDir   = "/var/etcd/data"
	// ProgramDir has member-run itself, in an emptyDir that the init container fills and that the etcd container mounts read-only: what
	// runs there cannot replace the program that guards its next start.
	ProgramDir = "/run/member-run"
	// StateDir is an emptyDir that member-run writes to, with what has to live as long as the pod: the configuration, the used attempt.
	StateDir = "/run/member-state"
	// PermitDir is where the downward-API volume is mounted, PermitFile the file in it; empty until there is a permit.
	PermitDir  = "/etc/member-run"
	PermitFile = "permit"
)

// Environment of the etcd container.
const (
	// EnvConfig holds a Config as JSON.
	EnvConfig = "MEMBER_CONFIG"
	// EnvPodUID and EnvPodIP are the pod's own, from the downward API.
	EnvPodUID = "POD_UID"
	EnvPodIP  = "POD_IP"
)

// Config is the configuration that a member has for its whole life.
type Config struct {
	// Name is the member's, and the pod's.
	Name string `json:"name"`
	// PeerURL and ClientURL are what the member advertises, each one URL with a DNS name; the one with TLS where it serves both schemes.
	PeerURL   string `json:"peerURL"`
	ClientURL string `json:"clientURL"`
	DataDir   string `json:"dataDir"`
	// Transport says which sides use TLS, with the files in CertificatesDir and TrustDir.
	Transport Transport `json:"transport,omitzero"`
	// Options are keys of etcd's configuration file and their values as text; see Translate.
	Options map[string]string `json:"options,omitempty"`
}

// ParseConfig reads a Config from JSON; one with a field missing is an error.
func ParseConfig(text string) (*Config, error) {
	c := &Config{}
	if err := json.Unmarshal([]byte(text), c); err != nil {
		return nil, fmt.Errorf("decode the member's configuration: %w", err)
	}
	if c.Name == "" || c.PeerURL == "" || c.ClientURL == "" || c.DataDir == "" {
		return nil, errors.New("decode the member's configuration: name, peerURL, clientURL and dataDir are needed")
	}
	return c, nil
}

// Reasons of a refusal. The first two mean for certain that the member cannot come back from this directory; the others do not.
const (
	// DataLost means that this one member has lost its data: there is no write-ahead log, and no unused permit to start
	// without one. Unlike the condition's reason of the same name it is not about the cluster.
	DataLost = "DataLost"
	// ForeignData means that the directory holds the data of another member or cluster.
	ForeignData = "ForeignData"
	// Unreadable means that the data cannot be read: an I/O error, which may pass, or a corrupt log.
	Unreadable = "Unreadable"
	// BadConfig means that etcd cannot be configured as requested, or not be run at all.
	BadConfig = "BadConfig"
	// BadCertificates means that the mounted certificates cannot be used: etcd would end, or serve nobody. The member starts once usable
	// ones are published.
	BadCertificates = "BadCertificates"
)

// maxMessage is in bytes, each of which may take six in JSON. The kubelet truncates a termination message at 4096, which would
// leave invalid JSON.
const maxMessage = 512

// Refusal is the termination message of a member-run that did not start etcd.
type Refusal struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Attempt is that of the permit that was refused because it has been used, 0 if it was refused for another reason.
	Attempt int `json:"attempt,omitempty"`
}

// Error implements error.
func (r *Refusal) Error() string { return r.Reason + ": " + r.Message }

// Encode returns the refusal as the termination message holds it, cut to a length that fits.
func (r *Refusal) Encode() ([]byte, error) {
	short := *r
	short.Message = failure.Cut(r.Message, maxMessage)
	text, err := json.Marshal(short)
	if err != nil {
		return nil, fmt.Errorf("encode the refusal: %w", err)
	}
	return text, nil
}

// ParseRefusal reads a container's termination message; ok is false for one that member-run did not write.
func ParseRefusal(text string) (refusal Refusal, ok bool) {
	err := json.Unmarshal([]byte(text), &refusal)
	return refusal, err == nil && refusal.Reason != ""
}
