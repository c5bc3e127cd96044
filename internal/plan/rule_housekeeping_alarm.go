package plan

// reportAlarm reports an alarm of etcd, which only the user can resolve.
func reportAlarm(v *view) Action {
	if v.Alarm != nil {
		return Blocked(*v.Alarm)
	}
	return nil
}
