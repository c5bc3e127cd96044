package etcdclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrNotYet says that etcd refuses a change now and may allow it later by itself. It is also the error if it is unknown whether the
// change was made: all changes are safe to repeat.
var ErrNotYet = errors.New("etcd refuses for now; retrying")

// later are the refusals that pass by themselves and do not have the code Unavailable, which means that for all of
// "unhealthy cluster", "no leader", "leader changed", "server stopped" and "request timed out". Unhealthy includes a
// server that has been connected to a quorum for less than five seconds: etcd's own check, never to be disabled.
var later = []error{
	rpctypes.ErrMemberNotEnoughStarted, rpctypes.ErrMemberLearnerNotReady, rpctypes.ErrTooManyLearners,
	rpctypes.ErrNotLeader, rpctypes.ErrNotCapable, rpctypes.ErrTooManyRequests, context.DeadlineExceeded,
}

// leaderTransferTimeout has no error code in etcd's API: it comes as Unknown, with this text (ErrTimeoutLeaderTransfer
// in its server).
const leaderTransferTimeout = "etcdserver: request timed out, leader transfer took too long"

// denials are etcd's errors for a client without permission.
var denials = []error{
	rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty, rpctypes.ErrAuthFailed, rpctypes.ErrInvalidAuthToken,
	rpctypes.ErrUserNotFound, // by the common name of a certificate
}

// untranslated are the refusals of etcd 3.5 to defragment, hash or send a snapshot: they come as Unknown, with the text of its package auth.
var untranslated = map[string]error{
	"auth: permission denied":  rpctypes.ErrPermissionDenied,
	"auth: user name is empty": rpctypes.ErrUserEmpty,
	"auth: user not found":     rpctypes.ErrUserNotFound,
	"auth: invalid auth token": rpctypes.ErrInvalidAuthToken,
}

// translate converts what etcd has answered to a request for maintenance to its error; any other error stays as it is.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := untranslated[rpctypes.ErrorDesc(err)]; ok {
		return known
	}
	return rpctypes.Error(err)
}

// outcome converts the error of a change to nil, ErrNotYet or a plain error. Done are the refusals that mean that there is nothing
// left to do.
func outcome(err error, done ...error) error {
	switch {
	case err == nil || isAny(err, done):
		return nil
	case Passes(err):
		return fmt.Errorf("%w: %w", ErrNotYet, err)
	default:
		return err
	}
}

// Passes reports whether a failure is transient.
func Passes(err error) bool {
	if isAny(err, later) {
		return true
	}
	var refusal rpctypes.EtcdError
	if errors.As(err, &refusal) {
		return refusal.Code() == codes.Unavailable
	}
	return Silent(err) || rpctypes.ErrorDesc(err) == leaderTransferTimeout
}

// Refused reports whether the error is etcd's own answer. The connection's errors may have the same codes, but are not from etcd.
func Refused(err error) bool {
	var refusal rpctypes.EtcdError
	return errors.As(err, &refusal)
}

// Denied reports whether etcd's authentication denies the request.
func Denied(err error) bool { return isAny(err, denials) }

// LoginRefused reports whether etcd has refused a user's password, or knows no such user.
func LoginRefused(err error) bool { return errors.Is(err, rpctypes.ErrAuthFailed) }

// LoginForgotten reports whether etcd does not know a token: it has expired, or the member was started anew since.
func LoginForgotten(err error) bool { return errors.Is(err, rpctypes.ErrInvalidAuthToken) }

// DeniedText is Denied of the text of an error.
func DeniedText(text string) bool {
	return slices.ContainsFunc(denials, func(denial error) bool { return denial.Error() == text })
}

// Unanswered reports whether the connection failed before etcd answered, so that another member can be asked: a change that was made
// nevertheless is a success when it is repeated.
func Unanswered(err error) bool { return !Refused(err) && status.Code(err) == codes.Unavailable }

// CutOff reports whether a member refuses a change because it has not been connected to a majority for long enough ("unhealthy cluster").
// It may be wrong about that without end: if a request to a peer's former address fails after the streams to the present one are there,
// etcd counts that peer as inactive until its streams break (rafthttp: pipeline.handle deactivates, only a new stream activates).
func CutOff(err error) bool { return errors.Is(err, rpctypes.ErrUnhealthy) }

// Silent reports whether etcd has not answered: the connection failed, or the request timed out.
func Silent(err error) bool {
	return Unanswered(err) || !Refused(err) && status.Code(err) == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded)
}

// Handshake returns why a request failed if its connection failed because the two sides do not accept each other's
// certificates; empty for any other error, also where etcd serves without TLS: it ends such a connection without a word. gRPC has the
// reason only as text: that of crypto/tls, which names itself.
func Handshake(err error) string {
	if !Unanswered(err) {
		return ""
	}
	text := status.Convert(err).Message()
	i := strings.Index(text, "tls: ")
	if i < 0 {
		return ""
	}
	const remote = "remote error: "
	if strings.HasSuffix(text[:i], remote) {
		i -= len(remote)
	}
	return strings.TrimSuffix(text[i:], `"`)
}

func isAny(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
