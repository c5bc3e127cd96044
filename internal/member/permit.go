package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// ID is an etcd member or cluster ID; in JSON it is 16 hexadecimal digits.
type ID uint64

// String returns the 16 digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is not an ID: %w", text, err)
	}
	*id = ID(n)
	return nil
}

// ParseID parses an ID from status or an annotation. It returns 0, which is no valid ID, for anything else.
func ParseID(text string) ID {
	var id ID
	if err := id.UnmarshalText([]byte(text)); err != nil {
		return 0
	}
	return id
}

// Mode says what a permit allows.
type Mode string

// Modes of a permit.
const (
	// ModeNew starts a first member on an empty directory.
	ModeNew Mode = "new"
	// ModeJoin starts an added learner on an empty directory.
	ModeJoin Mode = "join"
	// ModeResume starts only from existing data.
	ModeResume Mode = "resume"
)

// Permit is the operator's permission for etcd to start, and as which member.
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

// ParsePermit reads what Encode wrote. A permit without the member that may start, or without the pod, is an error.
func ParsePermit(text string) (*Permit, error) {
	p := &Permit{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("decode the permit: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("decode the permit: %w", err)
	}
	return p, nil
}

func (p *Permit) check() error {
	if p.ClusterID == 0 || p.MemberID == 0 {
		return errors.New("clusterID and memberID are needed")
	}
	switch p.Mode {
	case ModeResume:
		return nil
	case ModeNew, ModeJoin:
		if p.InitialCluster == "" || p.Token == "" || p.PodUID == "" || p.Attempt < 1 {
			return fmt.Errorf("mode %s needs initialCluster, token, podUID and attempt", p.Mode)
		}
		return nil
	}
	return fmt.Errorf("%q is not a mode", p.Mode)
}
