package v1beta2

// StorageType names a kind of object storage.
//
// +kubebuilder:validation:Enum=S3;ABS;GCS;OSS
type StorageType string

// Storage types.
const (
	StorageTypeS3  StorageType = "S3"
	StorageTypeABS StorageType = "ABS"
	StorageTypeGCS StorageType = "GCS"
	StorageTypeOSS StorageType = "OSS"
)

// BackupStorage is where snapshots are. Give the one that belongs to the storage type.
type BackupStorage struct {
	// s3 is Amazon S3 or anything that speaks its protocol.
	// +optional
	S3 *S3Storage `json:"s3,omitempty"`
	// abs is Azure Blob Storage.
	// +optional
	ABS *ABSStorage `json:"abs,omitempty"`
	// gcs is Google Cloud Storage.
	// +optional
	GCS *GCSStorage `json:"gcs,omitempty"`
	// oss is Alibaba Cloud Object Storage Service.
	// +optional
	OSS *OSSStorage `json:"oss,omitempty"`
}

// S3Storage is a place in S3.
type S3Storage struct {
	// path is bucket/key.
	// +required
	Path string `json:"path"`
	// awsSecret is a Secret with the keys credentials and config, in the form of the AWS command line's files.
	// +optional
	AWSSecret string `json:"awsSecret,omitempty"`
	// endpoint of a service other than Amazon's.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// forcePathStyle puts the bucket into the path instead of the host name.
	// +optional
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
}

// ABSStorage is a place in Azure Blob Storage.
type ABSStorage struct {
	// path is container/key.
	// +required
	Path string `json:"path"`
	// absSecret is a Secret with the keys storage-account and storage-key, and optionally cloud.
	// +optional
	ABSSecret string `json:"absSecret,omitempty"`
}

// GCSStorage is a place in Google Cloud Storage.
type GCSStorage struct {
	// path is bucket/key.
	// +required
	Path string `json:"path"`
	// gcpSecret is a Secret with the key access-token or credentials.json; the pod's own identity if empty.
	// +optional
	GCPSecret string `json:"gcpSecret,omitempty"`
}

// OSSStorage is a place in Alibaba Cloud Object Storage Service.
type OSSStorage struct {
	// path is bucket/key.
	// +required
	Path string `json:"path"`
	// ossSecret is a Secret with the keys accessKeyID and accessKeySecret.
	// +optional
	OSSSecret string `json:"ossSecret,omitempty"`
	// endpoint of the service.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
}
