package blobstore

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"google.golang.org/api/googleapi"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// Error is what went wrong with the storage.
type Error struct {
	// Reason is one of the storage's reasons in api/v1beta2, for conditions, events and metrics.
	Reason string
	// Message says what went wrong, where, and what to do. It holds no credentials.
	Message string
	// Lasting is true if another try cannot go better before somebody changes something.
	Lasting bool

	cause error
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Is tells whether the target is among the causes. They are not handed out: their texts may hold credentials.
func (e *Error) Is(target error) bool { return errors.Is(e.cause, target) }

// misconfigured is an error about what the storage was described with.
func misconfigured(message string) *Error {
	return &Error{Reason: v1beta2.ReasonStorageMisconfigured, Message: message, Lasting: true}
}

// refuse is misconfigured with the reason that a library gives.
func (c Credentials) refuse(message string, cause error) *Error {
	e := misconfigured(message + " (" + c.redact(detail(cause)) + ")")
	e.cause = cause
	return e
}

// verb is what was tried.
type verb string

const (
	toOpen   verb = "open"
	toRead   verb = "read"
	toWrite  verb = "write"
	toList   verb = "list"
	toDelete verb = "delete"
)

// explain tells an error of a library in this package's way.
func (b *Bucket) explain(tried verb, name string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	where := b.where
	if name != "" {
		where = b.URL(name)
	}
	a := classify(tried, err)
	if a == noBucket && b.makes && tried != toOpen {
		a = lostFolder
	}
	return &Error{
		Reason: a.reason, Lasting: a.lasting, cause: err,
		Message: fmt.Sprintf("cannot %s %s: %s (%s)", tried, where, a.text, b.credentials.redact(detail(err))),
	}
}

// detailLimit is how many bytes of a library's text go into a message.
const detailLimit = 300

// detail is the part of an error that says what happened. The rest is how the request went: its URL, which may hold a
// signature, and its numbers.
func detail(err error) string {
	var (
		aws    smithy.APIError
		azure  *azcore.ResponseError
		google *googleapi.Error
		web    *url.Error
		text   string
	)
	switch {
	case errors.As(err, &aws):
		text = aws.ErrorCode() + ": " + aws.ErrorMessage()
	case errors.As(err, &azure):
		text = fmt.Sprintf("%d %s", azure.StatusCode, azure.ErrorCode)
	case errors.As(err, &google):
		text = fmt.Sprintf("%d %s", google.Code, google.Message)
	case errors.As(err, &web):
		text = web.Err.Error()
	default:
		text = err.Error()
	}
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if len(text) > detailLimit {
		text = strings.ToValidUTF8(text[:detailLimit], "") + "…"
	}
	return text
}
