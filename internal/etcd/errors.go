package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrNotYet says that etcd refuses a change now and may allow it later without anybody doing anything. It is also the
// answer when nobody knows whether the change was made: all changes are safe to ask for again.
var ErrNotYet = errors.New("etcd asks to try again later")

// later are the refusals that end by themselves and do not have the code Unavailable, which says as much for all of
// "unhealthy cluster", "no leader", "leader changed", "server stopped" and "request timed out". Unhealthy includes a
// server that has been connected to a quorum for less than five seconds: etcd's own check, never to be disabled.
var later = []error{
	rpctypes.ErrMemberNotEnoughStarted, rpctypes.ErrMemberLearnerNotReady, rpctypes.ErrTooManyLearners,
	rpctypes.ErrNotLeader, rpctypes.ErrNotCapable, rpctypes.ErrTooManyRequests, context.DeadlineExceeded,
}

// leaderTransferTimeout has no error code in etcd's API: it comes as Unknown, with this text (ErrTimeoutLeaderTransfer
// in its server).
const leaderTransferTimeout = "etcdserver: request timed out, leader transfer took too long"

// explain turns the outcome of a change into nil, ErrNotYet or a plain error. Done are the refusals that say that there
// is nothing left to do.
func explain(what string, err error, done []error) error {
	switch {
	case err == nil || isAny(err, done):
		return nil
	case errors.Is(err, ErrNotYet):
		return fmt.Errorf("%s: %w", what, err)
	case passes(err):
		return fmt.Errorf("%s: %w: %w", what, ErrNotYet, err)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// passes tells whether the reason of a failure goes away by itself.
func passes(err error) bool {
	if isAny(err, later) {
		return true
	}
	var refusal rpctypes.EtcdError
	if errors.As(err, &refusal) {
		return refusal.Code() == codes.Unavailable
	}
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded ||
		rpctypes.ErrorDesc(err) == leaderTransferTimeout
}

func isAny(err error, targets []error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// unanswered tells whether the connection failed before etcd said anything, so that another member can be asked: a
// change that was made nevertheless is a success when it is asked for again. etcd's own answers may have the same code,
// but they are its word.
func unanswered(err error) bool {
	var refusal rpctypes.EtcdError
	return !errors.As(err, &refusal) && status.Code(err) == codes.Unavailable
}
