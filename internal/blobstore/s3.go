package blobstore

import (
	"context"
	"crypto/md5" //nolint:gosec // see md5Of
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/etcdpilot/etcd-operator/internal/storage"
)

// defaultRegion is what services other than Amazon's expect in a signature.
const defaultRegion = "us-east-1"

func openS3(ctx context.Context, t Target, bucket string, c Credentials) (*blob.Bucket, beforeWrite, error) {
	var refused error
	web := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { refused = trust(tr, t) })
	if refused != nil {
		return nil, nil, refused
	}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(web), config.WithDefaultRegion(defaultRegion),
		// The checksums that the client adds by default are trailers that many services other than Amazon's refuse:
		// sumUp adds one that all know.
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if t.Region != "" {
		options = append(options, config.WithRegion(t.Region))
	}
	identity, cleanUp, err := awsIdentity(c)
	if err != nil {
		return nil, nil, err
	}
	defer cleanUp()
	loaded, err := config.LoadDefaultConfig(ctx, append(options, identity...)...)
	if err != nil {
		return nil, nil, c.refuse("invalid AWS configuration", err)
	}
	if err := checkProfile(loaded); err != nil {
		return nil, nil, err
	}
	// They are requested now, because later a failure could not be distinguished from a refusal of the storage.
	found, err := loaded.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, nil, c.refuse("no S3 credentials found: set storage.credentialsSecretRef, or give the pod an identity", err)
	}
	fence := newFence(t, c, c.borrowsProfile(loaded))
	if found.SessionToken == "" {
		fence = nil // a key only signs
	}
	if err := fence.checkEndpoint(); err != nil {
		return nil, nil, err
	}
	client := s3.NewFromConfig(loaded, func(o *s3.Options) {
		if fence != nil {
			o.HTTPClient = &http.Client{Transport: fence.around(web.GetTransport())}
		}
		o.UsePathStyle = t.ForcePathStyle
		if t.Endpoint != "" {
			o.BaseEndpoint = aws.String(t.Endpoint)
		}
		if !strings.HasSuffix(bucket, directoryBucket) {
			o.APIOptions = append(o.APIOptions, sumUp)
		}
	})
	b, err := s3blob.OpenBucket(ctx, client, bucket, nil)
	return b, abortFreshly(client), err
}

// directoryBucket is what the names of Amazon's directory buckets end with. They take no MD5, and the client gives them a
// checksum of another kind by itself.
const directoryBucket = "--x-s3"

// sumUp sends an MD5 with everything that is uploaded. Buckets with an Object Lock refuse what comes without a checksum, and
// this is the only one that services have known from the beginning. They compare it with what arrives.
func sumUp(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SumUp", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		var body io.Reader
		var sum **string
		switch request := in.Parameters.(type) {
		case *s3.PutObjectInput:
			body, sum = request.Body, &request.ContentMD5
		case *s3.UploadPartInput:
			body, sum = request.Body, &request.ContentMD5
		}
		if content, ok := body.(io.ReadSeeker); ok {
			text, err := md5Of(content)
			if err != nil {
				return middleware.InitializeOutput{}, middleware.Metadata{}, err
			}
			*sum = aws.String(text)
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// md5Of sums up what is left to be read, and leaves the reader where it was.
func md5Of(r io.ReadSeeker) (string, error) {
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	hash := md5.New() //nolint:gosec // against accidents on the way; what is stored has a SHA-256
	if _, err := io.Copy(hash, r); err != nil {
		return "", err
	}
	_, err = r.Seek(start, io.SeekStart)
	return base64.StdEncoding.EncodeToString(hash.Sum(nil)), err
}

// abortTimeout is how long a failed upload may take to delete its parts.
const abortTimeout = 30 * time.Second

// abortFreshly has an upload that was cancelled delete its parts nevertheless. By default it tries that with the very
// context that was cancelled, and leaves them to be paid for.
func abortFreshly(client *s3.Client) beforeWrite {
	return func(as func(any) bool) error {
		var manager *transfermanager.Client
		if !as(&manager) {
			return errors.New("the upload cannot be told to clean up after itself")
		}
		*manager = *transfermanager.New(client, func(o *transfermanager.Options) {
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			o.PartSizeBytes, o.Concurrency = partSize, concurrency
			o.FailTimeout = abortTimeout
		})
		return nil
	}
}

// awsIdentity says who to be. It is none of the options if the pod's own identity is to be used.
func awsIdentity(c Credentials) (options []func(*config.LoadOptions) error, cleanUp func(), err error) {
	static := func(id, secret, token string) []func(*config.LoadOptions) error {
		return []func(*config.LoadOptions) error{
			config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, token)),
		}
	}
	nothing := func() {}
	switch {
	case len(c) == 0:
		return nil, nothing, nil
	case c.get(storage.KeyAccessKeyID) != "" && c.get(storage.KeySecretAccessKey) != "":
		return static(c.get(storage.KeyAccessKeyID), c.get(storage.KeySecretAccessKey), c.get(storage.KeySessionToken)), nothing, nil
	case c.get(storage.KeyOSSID) != "" && c.get(storage.KeyOSSSecret) != "":
		return static(c.get(storage.KeyOSSID), c.get(storage.KeyOSSSecret), ""), nothing, nil
	case c.get(storage.KeyAWSCredentials) == "":
		return nil, nil, c.missing("S3")
	}
	return awsFiles(c)
}

// awsFiles writes the files for the library, which reads nothing else, until cleanUp takes them away again.
func awsFiles(c Credentials) (options []func(*config.LoadOptions) error, cleanUp func(), err error) {
	folder, err := os.MkdirTemp("", "storage-*")
	if err != nil {
		return nil, nil, fmt.Errorf("create a folder for the AWS configuration: %w", err)
	}
	cleanUp = func() { _ = os.RemoveAll(folder) }
	files := map[string]string{}
	for _, key := range []string{storage.KeyAWSCredentials, storage.KeyAWSConfig} {
		files[key] = filepath.Join(folder, key)
		if err := os.WriteFile(files[key], c[key], 0o600); err != nil {
			cleanUp()
			return nil, nil, fmt.Errorf("write the AWS configuration: %w", err)
		}
	}
	return []func(*config.LoadOptions) error{
		config.WithSharedCredentialsFiles([]string{files[storage.KeyAWSCredentials]}),
		config.WithSharedConfigFiles([]string{files[storage.KeyAWSConfig]}),
		// Named, so that the environment does not go before it.
		config.WithSharedConfigProfile("default"),
	}, cleanUp, nil
}
