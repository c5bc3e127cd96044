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

// advice is what a kind of failure is called, and what to do about it.
type advice struct {
	reason, text string
	terminal     bool
}

var (
	badCredentials = advice{
		v1beta2.ReasonStorageCredentialsRefused, "the credentials are not accepted; correct the Secret", true,
	}
	badClock = advice{
		v1beta2.ReasonStorageCredentialsRefused, "the clocks of this node and the storage are too far apart; set them", false,
	}
	badRegion = advice{
		v1beta2.ReasonStorageMisconfigured, "the bucket is in another region; set region (and endpoint) to the bucket's", true,
	}
	noBucket = advice{v1beta2.ReasonNoSuchBucket, "there is no such bucket, or folder; create it, or correct its name", true}
	// lostFolder is for a folder that was there when it was opened. Who only reads has nothing to come back for.
	lostFolder = advice{v1beta2.ReasonNoSuchBucket, "the folder was deleted meanwhile; it is made again at the next try", false}
	noObject   = advice{v1beta2.ReasonNoSuchObject, "there is no such object", true}
	archived   = advice{
		v1beta2.ReasonObjectArchived, "the object is in an archive; bring it back there first (for S3: restore-object)", true,
	}
	readOnly = advice{
		v1beta2.ReasonStorageReadOnly, "the storage may be read, not written; allow the credentials to read, write, list and delete", true,
	}
	noAccess   = advice{v1beta2.ReasonStorageAccessDenied, "the credentials do not allow it; correct them, or what they allow", true}
	unreadable = advice{
		v1beta2.ReasonStorageAccessDenied, "the credentials do not allow to read it; allow them to (for S3: s3:GetObject): what " +
			"cannot be read can be neither checked nor restored", true,
	}
	locked = advice{
		v1beta2.ReasonObjectLocked, "the storage keeps the object until its retention, or a hold on it, is over; it can be " +
			"deleted then: keep backups for longer than that, or shorten the retention", true,
	}
	taken = advice{
		v1beta2.ReasonObjectChanged, "somebody else has written an object of that name meanwhile, which stays", false,
	}
	full = advice{v1beta2.ReasonStorageFull, "the storage is full; make room, or keep fewer backups", false}
	busy = advice{v1beta2.ReasonStorageUnreachable, "the storage asks to come back later", false}
	slow = advice{
		v1beta2.ReasonStorageUnreachable, "the storage did not answer in time; see whether it is overloaded, or the network", false,
	}
	untrusted = advice{
		v1beta2.ReasonStorageNotTrusted, "its certificate cannot be verified; give the certificate of its authority " +
			"(ca.crt), and the endpoint by the name that it was made for", true,
	}
	unreachable = advice{
		v1beta2.ReasonStorageUnreachable, "the storage cannot be reached; see whether its URL and endpoint are right, and " +
			"whether the network lets through", false,
	}
	failed = advice{v1beta2.ReasonStorageFailed, "the storage failed", false}
)

// byCode is what services call it, whatever was tried.
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

// classify names a failure by what the service calls it, or else by what HTTP and the kernel do.
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

// isForbidden reports whether the kernel refuses it.
func isForbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// isTaken reports whether an object that was to be new is there.
func isTaken(code string, status int, err error) bool {
	return status == http.StatusPreconditionFailed || code == "BlobAlreadyExists" || code == "ConditionalRequestConflict" ||
		gcerrors.Code(err) == gcerrors.FailedPrecondition
}

// denied tells a storage that may only be read, or only be written, from one that is closed.
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

// answered is what a service said: its code and HTTP's, 0 if it said nothing.
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

// isIdentity reports whether the failure is in getting a token: nobody has asked the storage yet.
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
