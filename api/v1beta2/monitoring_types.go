package v1beta2

// MonitoringMode is whether the operator makes objects of Prometheus Operator.
type MonitoringMode string

// Modes of monitoring.
const (
	// MonitoringAuto makes them where Prometheus Operator is installed.
	MonitoringAuto MonitoringMode = "Auto"
	// MonitoringOff makes none.
	MonitoringOff MonitoringMode = "Off"
)

// MonitoringSpec says how Prometheus learns of the cluster.
type MonitoringSpec struct {
	// mode is Auto or Off; Auto by default. With Auto, where the API server knows Prometheus Operator's kinds, the operator makes a PodMonitor
	// of the cluster's name, which has Prometheus collect the members' metrics, and keeps the alerts for the clusters of its namespace in the
	// PrometheusRule etcd-operator-alerts. With Off, it makes no PodMonitor and deletes the one that it has made, and the PrometheusRule
	// goes with the last cluster in its namespace that has mode Auto.
	// +kubebuilder:validation:Enum=Auto;Off
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,displayName="Mode"
	Mode MonitoringMode `json:"mode,omitempty"`
}
