package v1beta2

import (
	"cmp"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Before the first release some fields of status, and of the result of an agent's pod, had other names. They are read under those,
// too. The schema keeps such fields until status is written again, which is what PreserveUnknownFields is for on these types, and it
// does not require the present names, or an object could not be edited before that.

// UnmarshalJSON also reads the internal fields where they were before, at the top level.
func (s *EtcdClusterStatus) UnmarshalJSON(data []byte) error {
	type plain EtcdClusterStatus
	former := struct {
		*plain
		*InternalStatus
		// ReadyMembers was a string such as 3/3.
		ReadyMembers any `json:"readyMembers"`
	}{plain: (*plain)(s), InternalStatus: &s.InternalStatus}
	if err := json.Unmarshal(data, &former); err != nil {
		return err
	}
	if ready, ok := former.ReadyMembers.(float64); ok {
		s.ReadyMembers = int32(ready)
	}
	return nil
}

// UnmarshalJSON reads the former names of the times, too.
func (m *LeaderMoved) UnmarshalJSON(data []byte) error {
	type plain LeaderMoved
	return json.Unmarshal(data, &struct {
		*plain
		Time *metav1.Time `json:"time"`
	}{(*plain)(m), &m.MoveTime})
}

// UnmarshalJSON reads the former names of the times, too.
func (r *RestoreRecord) UnmarshalJSON(data []byte) error {
	type plain RestoreRecord
	return json.Unmarshal(data, &struct {
		*plain
		StartedAt   *metav1.Time  `json:"startedAt"`
		CompletedAt **metav1.Time `json:"completedAt"`
	}{(*plain)(r), &r.StartTime, &r.CompletionTime})
}

// UnmarshalJSON reads the former names of the times, too.
func (r *RestoreCalledOff) UnmarshalJSON(data []byte) error {
	type plain RestoreCalledOff
	return json.Unmarshal(data, &struct {
		*plain
		At        *metav1.Time  `json:"at"`
		ResumedAt **metav1.Time `json:"resumedAt"`
	}{(*plain)(r), &r.StartTime, &r.CompletionTime})
}

// UnmarshalJSON reads the former names of the times, too, and a reason that has coreos/etcd-operator's name only.
func (s *EtcdBackupStatus) UnmarshalJSON(data []byte) error {
	type plain EtcdBackupStatus
	err := json.Unmarshal(data, &struct {
		*plain
		NextBackup **metav1.Time `json:"nextBackup"`
		LastDue    **metav1.Time `json:"lastDue"`
	}{(*plain)(s), &s.NextScheduleTime, &s.LastScheduleTime})
	s.Reason = cmp.Or(s.Reason, s.LegacyReason)
	return err
}

// UnmarshalJSON reads the former name of the time, too.
func (l *BackupLineage) UnmarshalJSON(data []byte) error {
	type plain BackupLineage
	return json.Unmarshal(data, &struct {
		*plain
		TakenAt *metav1.Time `json:"takenAt"`
	}{(*plain)(l), &l.CreationTime})
}

// UnmarshalJSON reads the former names of the times, too. What the run of a pod has is inlined, and read by itself.
func (r *BackupRun) UnmarshalJSON(data []byte) error {
	own := struct {
		Task         *BackupTask   `json:"task"`
		ScheduleTime *metav1.Time  `json:"scheduleTime"`
		Due          *metav1.Time  `json:"due"`
		Generation   *int64        `json:"generation"`
		StartTime    **metav1.Time `json:"startTime"`
		Began        **metav1.Time `json:"began"`
	}{&r.Task, &r.ScheduleTime, &r.ScheduleTime, &r.Generation, &r.StartTime, &r.StartTime}
	if err := json.Unmarshal(data, &own); err != nil {
		return err
	}
	return r.AgentRun.UnmarshalJSON(data)
}

// UnmarshalJSON reads the former names of the times, too.
func (r *AgentRun) UnmarshalJSON(data []byte) error {
	type plain AgentRun
	return json.Unmarshal(data, &struct {
		*plain
		Started    *metav1.Time  `json:"started"`
		RetryAfter **metav1.Time `json:"retryAfter"`
	}{(*plain)(r), &r.AttemptStartTime, &r.RetryTime})
}

// UnmarshalJSON reads the former names of the times and sizes, too.
func (s *SnapshotStatus) UnmarshalJSON(data []byte) error {
	type plain SnapshotStatus
	return json.Unmarshal(data, &struct {
		*plain
		Size       *int64        `json:"size"`
		StoredSize *int64        `json:"storedSize"`
		TakenAt    *metav1.Time  `json:"takenAt"`
		VerifiedAt **metav1.Time `json:"verifiedAt"`
	}{(*plain)(s), &s.SizeBytes, &s.StoredSizeBytes, &s.CreationTime, &s.VerificationTime})
}

// UnmarshalJSON reads the former names of the times, too.
func (s *EtcdRestoreStatus) UnmarshalJSON(data []byte) error {
	type plain EtcdRestoreStatus
	return json.Unmarshal(data, &struct {
		*plain
		SavedAt     **metav1.Time `json:"savedAt"`
		CompletedAt **metav1.Time `json:"completedAt"`
	}{(*plain)(s), &s.SaveTime, &s.CompletionTime})
}

// UnmarshalJSON reads the former names of the Secrets, too, also those of the place that a restore under way has noted.
func (f *RestoredFrom) UnmarshalJSON(data []byte) error {
	type plain RestoredFrom
	err := json.Unmarshal(data, &struct {
		*plain
		EncryptionSecret *string `json:"encryptionSecret"`
	}{(*plain)(f), &f.EncryptionSecretRef.Name})
	f.Storage.TakeFormerNames()
	return err
}

// TakeFormerNames reads the former names of the Secrets as those of today. It is for what the operator has written itself: status,
// and the tasks of pods.
func (s *Storage) TakeFormerNames() {
	s.CredentialsSecretRef.Name = cmp.Or(s.CredentialsSecretRef.Name, s.FormerSecret)
	if s.FormerCASecret != "" && s.CABundleRef.Name == "" {
		s.CABundleRef = CABundleRef{Kind: CABundleSecret, Name: s.FormerCASecret, Key: DefaultCABundleKey}
	}
	s.FormerSecret, s.FormerCASecret = "", ""
}

// What people have written is not read under former names: nobody has looked whether who wrote it may use those Secrets, and the
// manifest would keep the name for good. It is not left out in silence either, for without its Secret a backup is written in plain
// text, or with the rights of its pod.

// Renamed says which field that names a Secret has its former name, and what it is called now; empty if none has.
func (s *EtcdBackupSpec) Renamed() string { return renamed(s.FormerEncryptionSecret, s.Storage) }

// Renamed says the same of where a snapshot is.
func (s *RestoreSource) Renamed() string { return renamed(s.FormerEncryptionSecret, s.Storage) }

func renamed(encryptionSecret string, s *Storage) string {
	switch {
	case encryptionSecret != "":
		return "spec.encryptionSecret is called spec.encryptionSecretRef.name now"
	case s != nil && s.FormerSecret != "":
		return "spec.storage.secret is called spec.storage.credentialsSecretRef.name now"
	case s != nil && s.FormerCASecret != "":
		return "spec.storage.caSecret is called spec.storage.caBundleRef.name now"
	}
	return ""
}
