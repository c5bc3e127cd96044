package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

func TestClassify(t *testing.T) {
	aws := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	azure := func(status int, code string) error { return &azcore.ResponseError{StatusCode: status, ErrorCode: code} }
	google := func(status int) error { return &googleapi.Error{Code: status} }
	held := &googleapi.Error{Code: http.StatusForbidden, Errors: []googleapi.ErrorItem{{Reason: "retentionPolicyNotMet"}}}
	for _, c := range []struct {
		tried verb
		err   error
		want  string
	}{
		{toWrite, aws("SignatureDoesNotMatch"), v1beta2.ReasonStorageCredentialsRefused},
		{toWrite, aws("RequestTimeTooSkewed"), v1beta2.ReasonStorageCredentialsRefused},
		{toWrite, aws("AuthorizationHeaderMalformed"), v1beta2.ReasonStorageMisconfigured},
		{toRead, aws("NoSuchKey"), v1beta2.ReasonNoSuchObject},
		{toRead, aws("InvalidObjectState"), v1beta2.ReasonObjectArchived},
		{toRead, aws("KMS.DisabledException"), v1beta2.ReasonStorageAccessDenied},
		{toRead, azure(http.StatusConflict, "BlobArchived"), v1beta2.ReasonObjectArchived},
		{toRead, aws("NoSuchBucket"), v1beta2.ReasonNoSuchBucket},
		{toWrite, aws("SlowDown"), v1beta2.ReasonStorageUnreachable},
		{toDelete, azure(http.StatusConflict, "BlobImmutableDueToPolicy"), v1beta2.ReasonObjectLocked},
		{toDelete, held, v1beta2.ReasonObjectLocked},
		{toWrite, aws("SomethingNew"), v1beta2.ReasonStorageFailed},
		{toWrite, azure(http.StatusForbidden, "AuthenticationFailed"), v1beta2.ReasonStorageCredentialsRefused},
		{toWrite, azure(http.StatusForbidden, "AuthorizationPermissionMismatch"), v1beta2.ReasonStorageReadOnly},
		{toDelete, azure(http.StatusForbidden, "AuthorizationFailure"), v1beta2.ReasonStorageReadOnly},
		{toList, azure(http.StatusForbidden, "AuthorizationFailure"), v1beta2.ReasonStorageAccessDenied},
		{toWrite, azure(http.StatusNotFound, "ContainerNotFound"), v1beta2.ReasonNoSuchBucket},
		{toWrite, google(http.StatusUnauthorized), v1beta2.ReasonStorageCredentialsRefused},
		{toRead, google(http.StatusForbidden), v1beta2.ReasonStorageAccessDenied},
		{toWrite, google(http.StatusServiceUnavailable), v1beta2.ReasonStorageUnreachable},
		{toWrite, &oauth2.RetrieveError{}, v1beta2.ReasonStorageCredentialsRefused},
		{toWrite, &fs.PathError{Err: syscall.ENOSPC}, v1beta2.ReasonStorageFull},
		{toWrite, &fs.PathError{Err: syscall.EDQUOT}, v1beta2.ReasonStorageFull},
		{toWrite, &fs.PathError{Err: syscall.EROFS}, v1beta2.ReasonStorageReadOnly},
		{toWrite, &fs.PathError{Err: syscall.EACCES}, v1beta2.ReasonStorageReadOnly},
		{toRead, &fs.PathError{Err: syscall.EACCES}, v1beta2.ReasonStorageAccessDenied},
		{toWrite, &fs.PathError{Err: syscall.ENOTEMPTY}, v1beta2.ReasonStorageFailed},
		{toWrite, context.DeadlineExceeded, v1beta2.ReasonStorageUnreachable},
		{toWrite, &url.Error{Op: "Put", Err: syscall.ECONNREFUSED}, v1beta2.ReasonStorageUnreachable},
		{toWrite, errors.New("something"), v1beta2.ReasonStorageFailed},
	} {
		if got := classify(c.tried, fmt.Errorf("wrapped: %w", c.err)).reason; got != c.want {
			t.Errorf("to %s, %v: got %s, want %s", c.tried, c.err, got, c.want)
		}
	}
}

// TestNoCredentialsInErrors has libraries repeat what they were given.
func TestNoCredentialsInErrors(t *testing.T) {
	c := Credentials{
		"storage-account": []byte("accountthatispublic"), "sas-token": []byte("?sv=2024&sig=c2lnbmF0dXJlCg%3D%3D"),
		"credentials": []byte("[default]\naws_secret_access_key = secret-secret-secret\n"),
	}
	b := &Bucket{where: "azblob://container/folder", credentials: c}
	for _, cause := range []error{
		&url.Error{Op: "Get", URL: "https://a.example/c?sv=2024&sig=c2lnbmF0dXJlCg%3D%3D", Err: errors.New("refused")},
		fmt.Errorf("GET https://accountthatispublic.example/c?sv=2024&sig=c2lnbmF0dXJlCg%%3D%%3D failed"),
		errors.New("the key secret-secret-secret is not known"),
	} {
		err := b.explain(toRead, "name", fmt.Errorf("attempt 1: %w", cause))
		text := fmt.Sprintf("%v %+v %#v", err, err, err.Error())
		if strings.Contains(text, "c2lnbmF0dXJl") || strings.Contains(text, "secret-secret-secret") {
			t.Errorf("a credential is in %s", text)
		}
		if !strings.Contains(text, "azblob://container/folder/name") {
			t.Errorf("the place is not in %s", text)
		}
		if !errors.Is(err, cause) || errors.Unwrap(err) != nil {
			t.Errorf("the cause can be compared with and not printed: %v", err)
		}
	}
}

// TestCause tells a caller what ended it, through the package's own error.
func TestCause(t *testing.T) {
	b, _ := folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, err := b.Create(ctx, "name")
	if err == nil {
		err = w.Commit()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
