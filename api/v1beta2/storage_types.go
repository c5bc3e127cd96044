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

// Storage is where snapshots are stored, by URL.
//
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('file:///') == has(self.persistentVolumeClaim)",message="a file:/// URL needs persistentVolumeClaim, the claim that it is on, and no other URL takes one"
// +kubebuilder:validation:XValidation:rule="self.url.startsWith('s3://') || !has(self.region) && !has(self.forcePathStyle)",message="region and forcePathStyle belong to s3:// URLs"
// +kubebuilder:validation:XValidation:rule="!has(self.allowTokens) || has(self.endpoint)",message="allowTokens belongs to endpoint"
// +kubebuilder:validation:XValidation:rule="!has(self.endpoint) || !self.endpoint.startsWith('http://') || has(self.credentialsSecretRef) && !self.url.startsWith('gs://') || has(self.allowTokens) && self.allowTokens",message="storage.endpoint is http://, and it would be sent a token in plain text, which whoever is on the way can use: make it https://, or set storage.allowTokens; keys of S3 and Azure in a Secret are never sent"
// +kubebuilder:validation:XValidation:rule="!self.url.startsWith('file:///') || !has(self.credentialsSecretRef) && !has(self.endpoint) && !has(self.caBundleRef)",message="a file:/// URL takes no credentialsSecretRef, endpoint or caBundleRef"
type Storage struct {
	// url is a bucket and the prefix of the objects' names: s3://bucket/prefix, gs://bucket/prefix,
	// azblob://container/prefix, or file:///folder on persistentVolumeClaim.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^((s3|gs|azblob)://[^/?#@]+(/[^?#]*)?|file:///[^?#]*)$`
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="URL",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"},order=21
	URL string `json:"url"`
	// credentialsSecretRef names the Secret with the credentials. s3: access-key-id and secret-access-key (and session-token), or
	// credentials and config in the form of the AWS command line's files. gs: credentials.json or access-token. azblob:
	// storage-account and storage-key, or sas-token. Without it the pod's own cloud identity is used, that of
	// serviceAccountName.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Credentials",order=21
	CredentialsSecretRef SecretRef `json:"credentialsSecretRef,omitzero"`
	// endpoint is the URL of a service other than the cloud's own, such as https://minio.storage.svc:9000.
	// +kubebuilder:validation:Pattern=`^https?://[^/?#@]+$`
	// +kubebuilder:validation:MaxLength=512
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Endpoint",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Endpoint string `json:"endpoint,omitempty"`
	// allowTokens allows tokens to be sent to a plain http:// endpoint, and the token of the pod's own cloud identity to an
	// endpoint outside that cloud. Anyone who reads a token can use it, for all that it permits, until it expires. Without
	// allowTokens such an endpoint is refused before anything is sent (InsecureEndpoint). Tokens are those of Google Cloud,
	// Azure's SAS and identities, and AWS session tokens; the keys of S3 and Azure only sign requests.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Send tokens to it in any case",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch","urn:alm:descriptor:com.tectonic.ui:advanced"}
	AllowTokens bool `json:"allowTokens,omitempty"`
	// caBundleRef names the Secret or ConfigMap with the endpoint's certificate authorities, in PEM.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Certificate authority"
	CABundleRef CABundleRef `json:"caBundleRef,omitzero"`
	// region of an S3 bucket; by default that in config of the Secret, or else us-east-1.
	// +kubebuilder:validation:MaxLength=64
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Region",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Region string `json:"region,omitempty"`
	// forcePathStyle puts the bucket into the path instead of the host name, as most services other than Amazon's require.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Bucket in the path",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:booleanSwitch"}
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// persistentVolumeClaim is the name of the PersistentVolumeClaim of a file URL. It must exist, in the same namespace.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Volume",xDescriptors={"urn:alm:descriptor:io.kubernetes:PersistentVolumeClaim"}
	PersistentVolumeClaim string `json:"persistentVolumeClaim,omitempty"`
	// secret is what credentialsSecretRef was called before the first release. An object that has it since then is not carried
	// out, and no other is taken.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Credentials (former name)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	FormerSecret string `json:"secret,omitempty"`
	// caSecret is the same of caBundleRef.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Certificate authority (former name)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:hidden"}
	FormerCASecret string `json:"caSecret,omitempty"`
}

// SecretRef names a Secret in the same namespace.
type SecretRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Secret",xDescriptors={"urn:alm:descriptor:io.kubernetes:Secret"}
	Name string `json:"name"`
}

// CABundleRef names a Secret or ConfigMap with certificates, in the same namespace.
type CABundleRef struct {
	// kind is Secret, or ConfigMap, which trust-manager writes; Secret by default.
	// +kubebuilder:default=Secret
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Kind"
	Kind CABundleKind `json:"kind,omitempty"`
	// name of the Secret or ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Name",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Name string `json:"name"`
	// key of the Secret or ConfigMap that holds them; ca.crt by default.
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Key",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:text"}
	Key string `json:"key,omitempty"`
}

// CABundleKind is the kind of object that holds certificates.
//
// +kubebuilder:validation:Enum=Secret;ConfigMap
type CABundleKind string

// Kinds of objects that hold certificates.
const (
	CABundleSecret    CABundleKind = "Secret"
	CABundleConfigMap CABundleKind = "ConfigMap"
)

// DefaultCABundleKey is the key of the certificates unless a CABundleRef names another one.
const DefaultCABundleKey = "ca.crt"

// BackupStorage is where snapshots are stored, in the form of coreos/etcd-operator. Set the one that the storage type names.
type BackupStorage struct {
	// s3 is Amazon S3 or a service with its API.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="S3 (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	S3 *S3Storage `json:"s3,omitempty"`
	// abs is Azure Blob Storage.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Azure (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	ABS *ABSStorage `json:"abs,omitempty"`
	// gcs is Google Cloud Storage.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Google (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
	GCS *GCSStorage `json:"gcs,omitempty"`
	// oss is Alibaba Cloud Object Storage Service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Alibaba (coreos/etcd-operator)",xDescriptors={"urn:alm:descriptor:com.tectonic.ui:advanced"}
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

// VolumeReclaimPolicy is what happens to volumes when their cluster is deleted.
type VolumeReclaimPolicy string

// Volume reclaim policies.
const (
	VolumeReclaimDelete VolumeReclaimPolicy = "Delete"
	VolumeReclaimRetain VolumeReclaimPolicy = "Retain"
)
