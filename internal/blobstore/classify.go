package blobstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	v1beta2 "github.com/etcdpilot/etcd-operator/api/v1beta2"
)

// advice is the reason of a kind of failure, and what to do about it.
type advice struct {
	reason, text string
	terminal     bool
}

var (
	badCredentials = advice{
		v1beta2.ReasonStorageCredentialsRefused, "the storage rejects the credentials; correct the Secret", true,
	}
	badClock = advice{
		v1beta2.ReasonStorageCredentialsRefused, "the clocks of this node and the storage differ too much; synchronize them (NTP)", false,
	}
	badRegion = advice{
		v1beta2.ReasonStorageMisconfigured, "the bucket is in another region; set storage.region (and storage.endpoint) to the bucket's", true,
	}
	noBucket = advice{v1beta2.ReasonNoSuchBucket, "the bucket or folder does not exist; create it, or correct its name", true}
	// lostFolder is for a folder that existed when it was opened. It is never recreated for reading.
	lostFolder = advice{v1beta2.ReasonNoSuchBucket, "the folder was deleted meanwhile; the next attempt recreates it", false}
	noObject   = advice{v1beta2.ReasonNoSuchObject, "the object does not exist", true}
	archived   = advice{
		v1beta2.ReasonObjectArchived, "the object is archived; restore it from the archive first (for S3: aws s3api restore-object)", true,
	}
	readOnly = advice{
		v1beta2.ReasonStorageReadOnly, "the storage is read-only for these credentials; allow them to read, write, list and delete objects", true,
	}
	noAccess   = advice{v1beta2.ReasonStorageAccessDenied, "access denied; correct the credentials or their permissions", true}
	unreadable = advice{
		v1beta2.ReasonStorageAccessDenied, "the credentials may not read the object; allow them to (for S3: s3:GetObject): what " +
			"cannot be read can be neither verified nor restored", true,
	}
	locked = advice{
		v1beta2.ReasonObjectLocked, "the object is locked by a retention policy or a legal hold of the storage; it can be " +
			"deleted once that expires: keep backups for longer than that, or shorten the retention", true,
	}
	taken = advice{
		v1beta2.ReasonObjectChanged, "another writer has created an object of that name meanwhile, which is not overwritten", false,
	}
	full = advice{v1beta2.ReasonStorageFull, "the storage is full, or its quota is exhausted; make room, or keep fewer backups", false}
	busy = advice{v1beta2.ReasonStorageUnreachable, "the storage throttles requests (429 or 503); retrying", false}
	slow = advice{
		v1beta2.ReasonStorageUnreachable, "request timed out; check the load of the storage, and the network", false,
	}
	untrusted = advice{
		v1beta2.ReasonStorageNotTrusted, "its TLS certificate cannot be verified; set storage.caBundleRef to the certificate of its authority (ca.crt), and " +
			"use the host name in the certificate in storage.endpoint; the older sections s3, abs and gcs have no caBundleRef: give storage.url in their place", true,
	}
	unreachable = advice{
		v1beta2.ReasonStorageUnreachable, "the storage is unreachable; check its URL and endpoint, DNS, " +
			"and whether the network lets the pod connect", false,
	}
	failed = advice{v1beta2.ReasonStorageFailed, "the storage returned an error", false}
)

// byCode classifies by a service's error code, whatever the request was.
var byCode = map[string]advice{
	"InvalidAccessKeyId": badCredentials, "SignatureDoesNotMatch": badCredentials, "InvalidToken": badCredentials,
	"ExpiredToken": badCredentials, "AuthenticationFailed": badCredentials, "InvalidAuthenticationInfo": badCredentials,
	"Unauthorized": badCredentials, "RequestTimeTooSkewed": badClock,
	"PermanentRedirect": badRegion, "AuthorizationHeaderMalformed": badRegion, "IllegalLocationConstraintException": badRegion,
	"NoSuchBucket": noBucket, "ContainerNotFound": noBucket, "NoSuchKey": noObject, "BlobNotFound": noObject,
	"InvalidObjectState": archived, "BlobArchived": archived, "BlobBeingRehydrated": archived,
	"KMS.DisabledException": noAccess, "KMS.NotFoundException": noAccess, "KMS.KMSInvalidStateException": noAccess,
	"BlobImmutableDueToPolicy": locked, "BlobImmutableDueToLegalHold": locked, "retentionPolicyNotMet": locked,
	"objectUnderActiveHold": locked, "QuotaExceeded": full, "XMinioStorageFull": full, "XMinioAdminBucketQuotaExceeded": full,
	"SlowDown": busy, "ServerBusy": busy, "RequestTimeout": slow, "OperationTimedOut": slow,
}

// classify classifies a failure by the service's error code, or else by HTTP's status and the kernel's errors.
func classify(tried verb, err error) advice {
	code, status := answered(err)
	if known, ok := byCode[code]; ok {
		return known
	}
	switch {
	case tried == toWrite && isTaken(code, status, err):
		return taken
	case status == http.StatusUnauthorized || isIdentity(err):
		return badCredentials
	case status == http.StatusForbidden || isForbidden(err):
		return denied(tried, err)
	case status == http.StatusInsufficientStorage || isFull(err):
		return full
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return busy
	case isUntrusted(err):
		return untrusted
	case isTimeout(err) || status == http.StatusGatewayTimeout:
		return slow
	case tried == toRead && isMissing(err):
		return noObject
	case isMissing(err):
		return noBucket
	case status == 0 && isNetwork(err):
		return unreachable
	}
	return failed
}

// isForbidden reports whether the kernel denies access.
func isForbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// isTaken reports whether an object that was to be new exists already.
func isTaken(code string, status int, err error) bool {
	return status == http.StatusPreconditionFailed || code == "BlobAlreadyExists" || code == "ConditionalRequestConflict" ||
		gcerrors.Code(err) == gcerrors.FailedPrecondition
}

// denied distinguishes storage that may only be read, or only be written, from storage without any access.
func denied(tried verb, err error) advice {
	var step *smithy.OperationError
	switch {
	case tried == toRead, errors.As(err, &step) && step.OperationName == "HeadObject": // which comes before one is deleted
		return unreadable
	case tried == toWrite, tried == toDelete:
		return readOnly
	default:
		return noAccess
	}
}

// answered is the service's error code and HTTP's status, 0 if it has not answered.
func answered(err error) (code string, status int) {
	var (
		api    smithy.APIError
		aws    *awshttp.ResponseError
		azure  *azcore.ResponseError
		google *googleapi.Error
	)
	switch {
	case errors.As(err, &azure):
		return azure.ErrorCode, azure.StatusCode
	case errors.As(err, &google):
		for _, e := range google.Errors {
			code = e.Reason
		}
		return code, google.Code
	}
	if errors.As(err, &aws) {
		status = aws.HTTPStatusCode()
	}
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	return code, status
}

// isIdentity reports whether getting a token failed, before any request to the storage.
func isIdentity(err error) bool {
	var google *oauth2.RetrieveError
	var azure interface {
		error
		NonRetriable()
	}
	return errors.As(err, &google) || errors.As(err, &azure)
}

func isMissing(err error) bool {
	return gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, fs.ErrNotExist)
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isUntrusted(err error) bool {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		other     *tls.CertificateVerificationError
	)
	return errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid) || errors.As(err, &other)
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout()
}

func isNetwork(err error) bool {
	var ( // not net.Error, which the kernel's errors about files are, too
		operation *net.OpError
		name      *net.DNSError
		request   *url.Error
	)
	return errors.As(err, &operation) || errors.As(err, &name) || errors.As(err, &request) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}
