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
	"github.com/etcdpilot/etcd-operator/internal/failure"
)

// misconfigured is an error about what the storage was described with.
func misconfigured(message string) error {
	return failure.New(failure.Problem{Reason: v1beta2.ReasonStorageMisconfigured, Message: message, Terminal: true})
}

// refuse is misconfigured with the reason that a library gives.
func (c Credentials) refuse(message string, cause error) error {
	return failure.Because(cause, failure.Problem{
		Reason: v1beta2.ReasonStorageMisconfigured, Terminal: true, Message: message + " (" + c.redact(detail(cause)) + ")",
	})
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

// explain converts an error of a library to one of this package.
func (b *Bucket) explain(tried verb, name string, err error) error {
	var known *failure.Error
	if errors.As(err, &known) {
		return known // without what a library has put around it
	}
	where := b.where
	if name != "" {
		where = b.URL(name)
	}
	a := classify(tried, err)
	if a == noBucket && b.makes && tried != toOpen {
		a = lostFolder
	}
	return failure.Because(err, failure.Problem{
		Reason: a.reason, Terminal: a.terminal,
		Message: fmt.Sprintf("cannot %s %s: %s (%s)", tried, where, a.text, b.credentials.redact(detail(err))),
	})
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
	return failure.Cut(strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), ""), detailLimit)
}
